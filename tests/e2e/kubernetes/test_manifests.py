"""deploy/manifests on Kubernetes itself: accepted as they are, and rights that suffice."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from fakes.ahpa_yaml import ahpa_yaml
from fakes.control_plane import ControlPlane
from fakes.gputide_processes import metrics_api, start_autoscaler
from fakes.kubectl import Kubectl
from fakes.programs import Programs, wait_until

FOLDER = Path(__file__).parents[3] / "deploy/manifests"
INSTRUCTIONS = FOLDER.parents[1] / "docs/how-to/deploy-on-kubernetes.md"
SYSTEM = "gputide-system"
AHPA = "advancedhorizontalpodautoscalers.autoscaling.alibabacloud.com"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: bert-intent-detection}
spec:
  replicas: 1
  selector: {matchLabels: {app: bert}}
  template:
    metadata: {labels: {app: bert}}
    spec: {containers: [{name: bert, image: "bert:1"}]}
"""
APPS, METRICS = "deployments.apps", "pods.custom.metrics.k8s.io"
MAY = (
    *(f"list {AHPA}", "watch pods", "list replicasets.apps", f"patch {AHPA}/status"),
    *(f"update {APPS}/scale", "get statefulsets.apps/scale", "update tides.test.dev/scale"),
    *("watch horizontalpodautoscalers.autoscaling", "create events", "patch events"),
    *(f"get {METRICS}/gpu_util default", "list queue.external.metrics.k8s.io default"),
    f"create leases.coordination.k8s.io {SYSTEM}",
    f"update leases.coordination.k8s.io {SYSTEM} gputide-autoscaler",
    "watch configmaps kube-system application-intelligence",
)
MAY_NOT = (
    *(f"update {AHPA}", f"patch {AHPA}", f"patch {APPS}", f"update {APPS}", "delete pods"),
    *(f"get secrets {SYSTEM}", "get secrets kube-system", f"create pods {SYSTEM}"),
    *("get configmaps kube-system", "list configmaps default", "list nodes"),
    f"update leases.coordination.k8s.io {SYSTEM} other",
    "create leases.coordination.k8s.io kube-system",
    "update horizontalpodautoscalers.autoscaling",
    "create tokenreviews.authentication.k8s.io",
)


@pytest.fixture
def admin(kubernetes: ControlPlane) -> Iterator[Kubectl]:
    """kubectl of an administrator, with everything installed but the API services."""
    kubectl = Kubectl(kubernetes.admin, kubernetes.folder)
    kubectl("apply", "-k", str(FOLDER))
    kubectl("wait", "--for=condition=Established", f"crd/{AHPA}", "--timeout=60s")
    yield kubectl
    for name in ("metricsapi.yaml", "autoscaler.yaml"):
        kubectl("delete", "--ignore-not-found", "-f", str(FOLDER / name))
    kubectl("delete", "--ignore-not-found", "deployment/bert-intent-detection")
    kubectl("delete", "namespace", SYSTEM, "--ignore-not-found")


def can(kubectl: Kubectl, account: str, asked: str) -> bool:
    """Ask as `kubectl auth can-i --as` does, for groups too that nobody serves yet.

    `asked` is VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAMESPACE [NAME]].
    """
    verb, what, *place = asked.split()
    qualified, _, subresource = what.partition("/")
    resource, _, group = qualified.partition(".")
    namespace, name = [*place, "", ""][:2]
    attributes = {
        "verb": verb,
        "group": group,
        "resource": resource,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    spec = {
        "user": f"system:serviceaccount:{account}",
        "groups": ["system:serviceaccounts", "system:authenticated"],
        "resourceAttributes": attributes,
    }
    head = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    made = kubectl("create", "-f", "-", "-o", "json", stdin=json.dumps({**head, "spec": spec}))
    return json.loads(made)["status"]["allowed"] is True


def test_the_server_takes_everything_as_it_is(kubernetes: ControlPlane, admin: Kubectl) -> None:
    again = admin(
        "apply", "--server-side", "--dry-run=server", "--force-conflicts", "-k", str(FOLDER)
    )
    bundle = base64.b64encode(kubernetes.authority.pem).decode()
    services = (FOLDER / "apiservices.yaml").read_text()
    services = services.replace('caBundle: ""', f"caBundle: {bundle}")
    done = admin("apply", "--dry-run=server", "-f", "-", stdin=services)

    assert again.count("serverside-applied (server dry run)") == len(again.splitlines()) > 20
    assert done.count("created (server dry run)") == 4
    wait_until(
        "the namespace's pod security lets all four pods in",
        lambda: len(admin.json("get", "pods", "-n", SYSTEM)["items"]) == 4,
    )


def test_the_secrets_of_the_instructions_are_those_that_the_pods_mount(
    admin: Kubectl, tmp_path: Path
) -> None:
    (tmp_path / "deploy").symlink_to(FOLDER.parent)
    chapter = INSTRUCTIONS.read_text().partition("## 2. Secrets")[2].partition("\n## ")[0]
    admin.shell("; ".join(["set -e", *commands(chapter)]), tmp_path)

    certificate = admin.json("get", "secret", "gputide-metricsapi-tls", "-n", SYSTEM)["data"]
    token = admin.json("get", "secret", "gputide-forecasts", "-n", SYSTEM)["data"]["token"]
    found = x509.load_pem_x509_certificate(base64.b64decode(certificate["tls.crt"]))
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["gputide-metricsapi.gputide-system.svc"]
    assert certificate["ca.crt"] == certificate["tls.crt"]
    assert re.fullmatch(rb"[0-9a-f]{64}", base64.b64decode(token))


def commands(chapter: str) -> list[str]:
    """Return the indented lines, continued ones in one."""
    lines = re.findall(r"^ {4}(.+)$", chapter, flags=re.MULTILINE)
    return re.sub(r"\\\n +", " ", "\n".join(lines)).split("\n")


def test_the_autoscalers_account_may_do_what_it_does_and_no_more(admin: Kubectl) -> None:
    account = f"{SYSTEM}:gputide-autoscaler"

    assert [asked for asked in MAY if not can(admin, account, asked)] == []
    assert [asked for asked in MAY_NOT if can(admin, account, asked)] == []


def test_the_metrics_apis_account_may_ask_who_somebody_is_and_list_names(admin: Kubectl) -> None:
    account = f"{SYSTEM}:gputide-metricsapi"

    for asked in (
        "create tokenreviews.authentication.k8s.io",
        "create subjectaccessreviews.authorization.k8s.io",
        "list pods",
        "watch configmaps kube-system extension-apiserver-authentication",
    ):
        assert can(admin, account, asked)
    for asked in ("get secrets", "watch pods", f"list {AHPA}", "list configmaps kube-system"):
        assert not can(admin, account, asked)


def test_the_hpa_controller_may_read_metrics_and_viewers_their_predictions(
    admin: Kubectl,
) -> None:
    hpa = "kube-system:horizontal-pod-autoscaler"
    assert can(admin, hpa, "list queue.external.metrics.k8s.io default")
    admin("create", "serviceaccount", "viewer", "-n", SYSTEM)
    to_view = ["--clusterrole=view", f"--serviceaccount={SYSTEM}:viewer"]
    admin("create", "rolebinding", "viewer", "-n", SYSTEM, *to_view)
    viewer, page = f"{SYSTEM}:viewer", "predictionsobserver.metrics.alibabacloud.com"

    wait_until("roles are put together", lambda: can(admin, viewer, f"get {page} {SYSTEM}"))
    assert can(admin, viewer, f"list {AHPA} {SYSTEM}")
    assert not can(admin, viewer, f"delete {AHPA} {SYSTEM}")
    assert not can(admin, viewer, f"get {page} default")


def test_the_autoscaler_leads_and_tells_with_the_rights_of_its_account(
    kubernetes: ControlPlane, admin: Kubectl, tmp_path: Path
) -> None:
    account = kubernetes.service_account(SYSTEM, "gputide-autoscaler")
    admin("apply", "-f", "-", stdin=f"{DEPLOYMENT}---\n{ahpa_yaml()}")
    with Programs(tmp_path) as programs:
        running = start_autoscaler(programs, account, None, "--leader-elect")
        wait_until(
            "the status is written",
            lambda: admin.json("get", "ahpa", "fib-gpu")["status"]["conditions"],
            running.program,
        )
        page = running.page("/metrics")
        lease = admin.json("get", "lease", "gputide-autoscaler", "-n", SYSTEM)
    admin("delete", "ahpa", "fib-gpu")

    assert "gputide_autoscaler_leader 1" in page
    assert "forbidden" not in page
    assert "holderIdentity" in lease["spec"]


def test_the_metrics_api_serves_with_the_rights_of_its_account(
    kubernetes: ControlPlane, admin: Kubectl, tmp_path: Path
) -> None:
    account = kubernetes.service_account(SYSTEM, "gputide-metricsapi")
    admin("delete", "service", "gputide-metricsapi", "-n", SYSTEM)
    admin("delete", "deployment", "gputide-metricsapi", "-n", SYSTEM)
    arguments = ["--forecast-url", "http://127.0.0.1:9"]
    with (
        Programs(tmp_path) as programs,
        metrics_api(programs, admin, *arguments, kubeconfig=account),
    ):
        found = json.loads(admin("get", "--raw", "/apis/metrics.alibabacloud.com/v1beta1"))

    assert {one["name"] for one in found["resources"]} >= {"predictions", "predictionsobserver"}


def test_shards_need_the_one_rule_that_the_instructions_name(
    kubernetes: ControlPlane, admin: Kubectl, tmp_path: Path
) -> None:
    chapter = INSTRUCTIONS.read_text().partition("## More than one")[2]
    (rule,) = yaml.safe_load(chapter.partition("```yaml\n")[2].partition("```")[0])
    patch = json.dumps([{"op": "add", "path": "/rules/-", "value": rule}])
    admin("patch", "role", "gputide-autoscaler", "-n", SYSTEM, "--type=json", "-p", patch)
    account = kubernetes.service_account(SYSTEM, "gputide-autoscaler")
    names = [f"web-{n}" for n in range(6)]
    for name in names:
        admin("apply", "-f", "-", stdin=ahpa_yaml().replace("name: fib-gpu", f"name: {name}"))
    with Programs(tmp_path) as programs:
        both = [
            start_autoscaler(programs, account, None, "--leader-elect", "--shards")
            for _ in range(2)
        ]
        for one in both:
            wait_until(
                "it shares and writes",
                lambda one=one: (
                    "gputide_autoscaler_members 2" in one.page("/metrics")
                    and "gputide_autoscaler_leader 1" in one.page("/metrics")
                ),
                one.program,
            )
        wait_until(
            "all statuses are written",
            lambda: all("status" in one for one in admin.json("get", "ahpa")["items"]),
        )
        shares = [_objects(one.page("/metrics")) for one in both]
    leases = admin("get", "leases", "-n", SYSTEM, "-l", "gputide.dev/members", "-o", "name")
    admin("delete", "ahpa", *names)

    assert sum(shares) == len(names)
    assert min(shares) >= 0
    assert len(leases.splitlines()) == 2


def _objects(page: str) -> float:
    return sum(
        float(line.split()[-1])
        for line in page.splitlines()
        if line.startswith("gputide_autoscaler_objects{")
    )
