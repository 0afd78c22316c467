import pytest

from fakes.api_servers import APPLY, BOXES, MERGE, api_server, box

JSON_PATCH = {"content-type": "application/json-patch+json"}
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}


async def test_a_new_object_is_a_201_with_all_that_the_server_adds() -> None:
    async with api_server() as api:
        metadata = (await api.put_box("a"))["metadata"]
        assert metadata["generation"] == 1
        for name in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
            assert metadata[name]


async def test_a_name_may_be_generated() -> None:
    async with api_server() as api:
        body = box() | {"metadata": {"generateName": "box-"}}
        made = await api.ask("POST", BOXES, body, code=201)
        assert made["metadata"]["name"].startswith("box-")
        assert len(made["metadata"]["name"]) > len("box-")


async def test_the_same_name_again_is_a_409() -> None:
    async with api_server() as api:
        await api.put_box("a")
        assert (await api.ask("POST", BOXES, box("a"), code=409))["reason"] == "AlreadyExists"


async def test_the_generation_grows_with_the_spec_alone() -> None:
    async with api_server() as api:
        await api.put_box("a")
        labelled = await api.ask(
            "PATCH", f"{BOXES}/a", {"metadata": {"labels": {"a": "b"}}}, headers=MERGE
        )
        assert labelled["metadata"]["generation"] == 1
        grown = await api.ask("PATCH", f"{BOXES}/a", {"spec": {"size": 2}}, headers=MERGE)
        assert grown["metadata"]["generation"] == 2


async def test_a_replacement_of_an_older_version_is_a_409() -> None:
    async with api_server() as api:
        old = await api.put_box("a")
        new = old | {"spec": {"size": 2}}
        assert (await api.ask("PUT", f"{BOXES}/a", new))["spec"]["size"] == 2
        assert (await api.ask("PUT", f"{BOXES}/a", new, code=409))["reason"] == "Conflict"
        assert (await api.ask("PUT", f"{BOXES}/a", box("a", size=4)))["spec"]["size"] == 4


@pytest.mark.parametrize(
    ("headers", "patch"),
    [
        (MERGE, {"spec": {"size": 5}}),
        (JSON_PATCH, [{"op": "replace", "path": "/spec/size", "value": 5}]),
        (APPLY, box("a", size=5)),
    ],
)
async def test_each_kind_of_patch_changes_the_object(
    headers: dict[str, str], patch: object
) -> None:
    async with api_server() as api:
        await api.put_box("a", replicas=1)
        query = "?fieldManager=me&force=true"
        changed = await api.ask("PATCH", f"{BOXES}/a{query}", patch, headers=headers)
        assert (changed["spec"]["size"], changed["spec"]["replicas"]) == (5, 1)


@pytest.mark.parametrize("type_", ["application/json", "text/plain", STRATEGIC["content-type"]])
async def test_a_patch_that_is_not_known_is_a_415(type_: str) -> None:
    async with api_server() as api:
        await api.put_box("a")
        headers = {"content-type": type_}
        await api.ask("PATCH", f"{BOXES}/a", {"spec": {}}, headers=headers, code=415)


async def test_an_apply_creates_then_owns_then_takes_back() -> None:
    async with api_server() as api:
        path = f"{BOXES}/a?fieldManager=me"
        await api.ask("PATCH", path, box("a", replicas=2), headers=APPLY, code=201)
        again = await api.ask("PATCH", path, box("a", replicas=2), headers=APPLY)
        assert again["metadata"]["generation"] == 1
        smaller = await api.ask("PATCH", path, box("a"), headers=APPLY)
        assert "replicas" not in smaller["spec"]


async def test_an_apply_over_somebody_elses_field_is_a_conflict_unless_forced() -> None:
    async with api_server() as api:
        await api.ask("POST", f"{BOXES}?fieldManager=other", box("a", size=1), code=201)
        path, body = f"{BOXES}/a?fieldManager=me", box("a", size=2)
        status = await api.ask("PATCH", path, body, headers=APPLY, code=409)
        assert status["details"]["causes"][0]["field"] == ".spec.size"
        forced = await api.ask("PATCH", f"{path}&force=true", body, headers=APPLY)
        assert forced["spec"]["size"] == 2


async def test_an_apply_needs_a_manager() -> None:
    async with api_server() as api:
        await api.ask("PATCH", f"{BOXES}/a", box("a"), headers=APPLY, code=422)


async def test_a_dry_run_stores_nothing() -> None:
    async with api_server() as api:
        await api.ask("POST", f"{BOXES}?dryRun=All", box("a"), code=201)
        await api.ask("GET", f"{BOXES}/a", code=404)
        await api.put_box("a")
        tried = await api.ask(
            "PATCH", f"{BOXES}/a?dryRun=All", {"spec": {"size": 7}}, headers=MERGE
        )
        assert tried["spec"]["size"] == 7
        assert (await api.ask("GET", f"{BOXES}/a"))["spec"]["size"] == 1


async def test_unknown_fields_are_refused_told_or_ignored_as_asked() -> None:
    async with api_server() as api:
        body = box("a", foo=1)
        status = await api.ask("POST", f"{BOXES}?fieldValidation=Strict", body, code=400)
        assert 'unknown field "spec.foo"' in status["message"]
        told = await api.client.post(f"{BOXES}?fieldValidation=Warn", json=body)
        assert told.headers["warning"] == r'299 - "unknown field \"spec.foo\""'
        body["metadata"]["name"] = "b"
        ignored = await api.client.post(f"{BOXES}?fieldValidation=Ignore", json=body)
        assert ignored.status_code == 201
        assert "warning" not in ignored.headers


async def test_a_body_is_json_or_yaml() -> None:
    async with api_server() as api:
        yaml = "{apiVersion: x.io/v1, kind: Box, metadata: {name: y}, spec: {size: 2}}"
        block = "apiVersion: x.io/v1\nkind: Box\nmetadata:\n  name: y\nspec:\n  size: 2\n"
        headers = {"content-type": "application/yaml"}
        made = await api.client.post(BOXES, content=block, headers=headers)
        assert made.status_code == 201
        assert (await api.client.post(BOXES, content=yaml, headers=headers)).status_code == 400
        plain = await api.client.post(BOXES, content=block, headers={"content-type": "text/plain"})
        assert plain.status_code == 415


async def test_a_body_without_a_kind_is_a_400() -> None:
    async with api_server() as api:
        body = box("a")
        del body["kind"]
        await api.ask("POST", BOXES, body, code=400)


async def test_a_status_is_written_through_its_own_path_alone() -> None:
    async with api_server() as api:
        await api.put_box("a")
        status = {"status": {"ok": True}}
        whole = await api.ask("PATCH", f"{BOXES}/a", status, headers=MERGE)
        assert "status" not in whole
        part = await api.ask(
            "PATCH", f"{BOXES}/a/status", status | {"spec": {"size": 9}}, headers=MERGE
        )
        assert (part["status"], part["spec"]["size"]) == ({"ok": True}, 1)
        assert part["metadata"]["generation"] == 1
        assert (await api.ask("GET", f"{BOXES}/a/status"))["status"] == {"ok": True}


async def test_an_update_of_what_is_not_there_is_a_404() -> None:
    async with api_server() as api:
        await api.ask("PUT", f"{BOXES}/a", box("a"), code=404)
        await api.ask("PATCH", f"{BOXES}/a", {}, headers=MERGE, code=404)
        status = f"{BOXES}/a/status?fieldManager=me"
        await api.ask("PATCH", status, box("a"), headers=APPLY, code=404)
