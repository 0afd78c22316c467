from fakes.api_servers import api_server
from gputide.kubeapi.server import Options

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def test_discovery_is_aggregated_for_whoever_takes_it() -> None:
    async with api_server() as api:
        answer = await api.client.get("/apis", headers={"accept": f"{V2},application/json"})
        assert answer.headers["content-type"] == V2
        groups = {one["metadata"]["name"]: one for one in answer.json()["items"]}
        assert set(groups) == {"x.io", "load.x.io"}
        kinds = [one["responseKind"] for one in groups["load.x.io"]["versions"][0]["resources"]]
        assert None not in kinds
        plain = await api.ask("GET", "/apis")
        assert plain["kind"] == "APIGroupList"


async def test_an_unchanged_document_is_a_304() -> None:
    async with api_server() as api:
        tag = (await api.client.get("/apis", headers={"accept": V2})).headers["etag"]
        again = await api.client.get("/apis", headers={"accept": V2, "if-none-match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        other = await api.client.get("/apis", headers={"accept": V2, "if-none-match": '"x"'})
        assert other.status_code == 200


async def test_each_older_document_has_its_path() -> None:
    async with api_server() as api:
        assert (await api.ask("GET", "/apis/x.io"))["kind"] == "APIGroup"
        assert (await api.ask("GET", "/apis/x.io/v1"))["groupVersion"] == "x.io/v1"
        await api.ask("GET", "/api", code=404)  # no core group is served
        for path in ("/apis/z.io", "/apis/x.io/v9", "/api/v1"):
            await api.ask("GET", path, code=404)


async def test_openapi_is_an_index_and_a_document_for_each_version() -> None:
    async with api_server() as api:
        index = await api.ask("GET", "/openapi/v3")
        url = index["paths"]["apis/x.io/v1"]["serverRelativeURL"]
        document = await api.ask("GET", url)
        assert "io.x.v1.Box" in document["components"]["schemas"]
        await api.ask("GET", "/openapi/v2", code=404)


async def test_the_version_is_the_one_that_was_set() -> None:
    async with api_server(options=Options(version="v1.36.2+gputide")) as api:
        version = await api.ask("GET", "/version")
        assert (version["major"], version["minor"]) == ("1", "36")
        assert version["gitVersion"] == "v1.36.2+gputide"


async def test_readiness_says_what_is_missing_and_liveness_does_not_care() -> None:
    missing = ["no history yet"]
    async with api_server(options=Options(ready=lambda: missing[0])) as api:
        status = await api.ask("GET", "/readyz", code=503)
        assert status["message"] == "not ready: no history yet"
        for path in ("/livez", "/healthz"):
            assert (await api.client.get(path)).text == "ok"
        missing[0] = ""
        assert (await api.client.get("/readyz")).text == "ok"


async def test_any_other_path_is_a_404_and_any_other_method_a_405() -> None:
    async with api_server() as api:
        await api.ask("GET", "/nothing", code=404)
        await api.ask("GET", "/", code=404)
        await api.ask("POST", "/apis", {}, code=405)
        await api.ask("GET", "/" + "/".join("x" * 40), code=404)
