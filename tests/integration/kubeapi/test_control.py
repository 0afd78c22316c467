"""The real kubectl against a control plane in a process of its own."""

import asyncio
import base64
import json
import ssl
from collections.abc import Iterator

import pytest
import trustme

from fakes.behind import RESOURCES, port_of
from fakes.http_server import Request, http_server, response
from fakes.kubeapi_server import KubeapiServer, kubeapi_server
from fakes.kubectl import Kubectl, KubectlError

TIDES = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tides.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Tide, plural: tides, shortNames: [td]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: "Target(%)", type: integer, jsonPath: .spec.target}
    - {name: Mode, type: string, jsonPath: .spec.mode}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [target]
            properties:
              target: {type: integer, minimum: 1, description: Target utilization.}
              mode: {type: string, default: observer, enum: [observer, auto]}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
TIDE = """
apiVersion: GROUP/v1
kind: Tide
metadata: {name: t}
spec: {target: 20}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "web:1", ports: [{containerPort: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {a: b}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeapiServer]:
    with kubeapi_server(tmp_path_factory.mktemp("kubeapi")) as running:
        yield running


class InNamespace:
    """kubectl in a namespace of the test's own."""

    def __init__(self, server: KubeapiServer, name: str) -> None:
        self.kubectl = Kubectl(server.admin, server.folder)
        self.namespace = name
        self.kubectl("create", "namespace", name)

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        return self.kubectl("--namespace", self.namespace, *arguments, stdin=stdin)

    def fails(self, *arguments: str, stdin: str | None = None) -> str:
        return self.kubectl.fails("--namespace", self.namespace, *arguments, stdin=stdin)

    def words(self, *arguments: str) -> list[list[str]]:
        """Return the table that it prints, in words."""
        return [line.split() for line in self(*arguments).splitlines()]


@pytest.fixture
def kubectl(server: KubeapiServer, request: pytest.FixtureRequest) -> InNamespace:
    return InNamespace(server, request.node.name.replace("_", "-")[:60].strip("-"))


def test_a_custom_kind_is_applied_printed_explained_and_removed(kubectl: InNamespace) -> None:
    crd, tide = TIDES.replace("GROUP", "one.io"), TIDE.replace("GROUP", "one.io")
    kubectl("apply", "-f", "-", stdin=crd)
    kubectl("wait", "--for=condition=Established", "crd/tides.one.io", "--timeout=10s")
    assert "created" in kubectl("apply", "-f", "-", stdin=tide)
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=tide)
    assert "configured" in kubectl("apply", "-f", "-", stdin=tide.replace("20", "30"))
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    kubectl("patch", "td", "t", "--subresource=status", "--type=merge", "-p", json.dumps(status))

    assert kubectl.words("get", "td") == [
        ["NAME", "TARGET(%)", "MODE", "READY"],
        ["t", "30", "observer", "True"],
    ]
    assert "Target utilization." in kubectl(
        "explain", "tides.spec.target", "--api-version=one.io/v1"
    )
    refused = kubectl.fails("apply", "-f", "-", stdin=tide.replace("20", "0"))
    assert "spec.target" in refused

    kubectl("delete", "crd", "tides.one.io", "--timeout=10s")
    assert "could not find the requested resource" in kubectl.fails("get", "tides.v1.one.io")


def test_a_deployment_lives_its_life(kubectl: InNamespace) -> None:
    kubectl("apply", "-f", "-", stdin=WEB)
    assert kubectl.words("get", "deploy", "--no-headers")[0][:4] == ["web", "0/2", "0", "0"]
    service = kubectl.words("get", "svc", "--no-headers")[0]
    assert service[1] == "LoadBalancer"
    assert service[3:5] == ["<pending>", "80/TCP"]

    changed = WEB.replace("replicas: 2", "replicas: 5")
    difference = kubectl.fails("diff", "-f", "-", stdin=changed)
    assert "-  replicas: 2" in difference
    assert "+  replicas: 5" in difference
    assert "configmap/conf unchanged" in kubectl("apply", "-f", "-", stdin=changed)
    kubectl("scale", "deploy/web", "--replicas=7")
    container = {"name": "web", "image": "web:2"}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    kubectl("patch", "deploy", "web", "-p", json.dumps(patch))
    path = "{.spec.replicas} {.spec.template.spec.containers[*].ports[0].containerPort} {..image}"
    assert kubectl("get", "deploy", "web", "-o", f"jsonpath={path}") == "7 80 web:2"


def test_an_apply_by_the_server_names_who_holds_what_and_may_take_it(kubectl: InNamespace) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    kubectl(*apply, "--field-manager=one", stdin=WEB)
    other = WEB.replace("replicas: 2", "replicas: 3").replace("web:1", "web:2")
    refused = kubectl.fails(*apply, "--field-manager=two", stdin=other)
    assert 'Apply failed with 2 conflicts: conflicts with "one":' in refused
    assert "- .spec.replicas" in refused
    assert '- .spec.template.spec.containers[name="web"].image' in refused

    kubectl(*apply, "--field-manager=two", "--force-conflicts", stdin=other)
    assert kubectl("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}") == "3"
    refused = kubectl.fails(*apply, "--field-manager=one", stdin=WEB)
    assert 'conflicts with "two"' in refused


def test_an_object_of_client_side_apply_moves_to_the_server(kubectl: InNamespace) -> None:
    kubectl("apply", "-f", "-", stdin=WEB)
    kubectl("apply", "--server-side", "-f", "-", stdin=WEB.replace("data: {a: b}", "data: {c: d}"))

    assert kubectl("get", "cm", "conf", "-o", "jsonpath={.data}") == '{"c":"d"}'


def test_dependents_go_with_their_owner(kubectl: InNamespace) -> None:
    kubectl("create", "configmap", "owner")
    uid = kubectl("get", "cm", "owner", "-o", "jsonpath={.metadata.uid}")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    part = {"apiVersion": "v1", "kind": "ConfigMap"}
    part["metadata"] = {"name": "part", "ownerReferences": [owner]}
    kubectl("apply", "-f", "-", stdin=json.dumps(part))
    kubectl("delete", "cm", "owner", "--cascade=foreground", "--timeout=10s")

    assert "not found" in kubectl.fails("get", "cm", "part")


def test_a_namespace_takes_its_contents_with_it(kubectl: InNamespace) -> None:
    kubectl("apply", "-f", "-", stdin=WEB)
    kubectl("delete", "namespace", kubectl.namespace, "--timeout=10s")

    assert kubectl("get", "deploy,svc,cm") == ""
    assert "not found" in kubectl.fails("create", "configmap", "c")


def test_kubectl_finds_out_who_one_is_and_what_one_may(server: KubeapiServer) -> None:
    admin = Kubectl(server.admin, server.folder)
    alice = Kubectl(server.kubeconfig(user="alice"), server.folder)

    assert "admin" in admin("auth", "whoami")
    assert admin("auth", "can-i", "create", "pods") == "yes\n"
    assert "selfsubjectaccessreviews" in alice.fails("auth", "can-i", "create", "pods")


async def test_another_server_answers_its_group_as_if_it_were_ours(server: KubeapiServer) -> None:
    kubectl = Kubectl(server.admin, server.folder)

    def ask(*arguments: str, stdin: str | None = None) -> "asyncio.Future[str]":
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(None, lambda: kubectl(*arguments, stdin=stdin))

    def answer(request: Request) -> bytes:
        if request.target.startswith("/apis/x.io/v1/namespaces/"):
            user = request.headers["x-remote-user"]
            return response(json.dumps({"kind": "Tide", "user": user}).encode())
        return response(json.dumps(RESOURCES).encode())

    told = ("get", "configmap", "extension-apiserver-authentication", "-n", "kube-system")
    front = json.loads(await ask(*told, "-o", "json"))["data"]["requestheader-client-ca-file"]
    authority = trustme.CA()
    async with http_server(answer, tls=admitting(authority, front)) as behind:
        bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
        await ask("apply", "-f", "-", stdin=registration(port_of(behind), bundle))
        await ask("wait", "--for=condition=Available", "apiservice/v1.x.io", "--timeout=20s")

        assert "tides" in await ask("api-resources", "--api-group=x.io")
        got = await ask("get", "--raw", "/apis/x.io/v1/namespaces/n/tides/t")
        assert json.loads(got) == {"kind": "Tide", "user": "admin"}
        listed = await ask("get", "apiservices", "--no-headers")
        assert listed.split()[:3] == ["v1.x.io", "default/behind", "True"]
    with pytest.raises(KubectlError, match="error trying to reach service"):
        await ask("get", "--raw", "/apis/x.io/v1/namespaces/n/tides/t")
    assert "deployments" in await ask("api-resources")
    await ask("delete", "apiservice", "v1.x.io")


def admitting(authority: trustme.CA, front_pem: str) -> ssl.SSLContext:
    """Return the TLS of a server that admits the front proxy alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("behind.default.svc").configure_cert(context)
    context.load_verify_locations(cadata=front_pem)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def registration(port: int, bundle: str) -> str:
    """Return an APIService and its Service."""
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "behind", "namespace": "default"},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
    api_service = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.x.io"},
        "spec": {
            "group": "x.io",
            "version": "v1",
            "caBundle": bundle,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"namespace": "default", "name": "behind", "port": port},
        },
    }
    return f"{json.dumps(service)}\n---\n{json.dumps(api_service)}"
