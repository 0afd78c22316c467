from fakes.api_servers import BOXES, MERGE, api_server

SCALE = f"{BOXES}/a/scale"


async def test_a_scale_is_a_view_of_the_object() -> None:
    async with api_server() as api:
        stored = await api.put_box("a", replicas=3)
        status = {"status": {"replicas": 2, "selector": "app=a"}}
        await api.ask("PATCH", f"{BOXES}/a/status", status, headers=MERGE)
        scale = await api.ask("GET", SCALE)
        assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
        assert scale["spec"] == {"replicas": 3}
        assert scale["status"] == {"replicas": 2, "selector": "app=a"}
        assert scale["metadata"]["uid"] == stored["metadata"]["uid"]


async def test_scaling_changes_the_replicas_alone() -> None:
    async with api_server() as api:
        await api.put_box("a", size=4, replicas=3)
        patched = await api.ask("PATCH", SCALE, {"spec": {"replicas": 5}}, headers=MERGE)
        assert patched["spec"]["replicas"] == 5
        replaced = await api.ask("PUT", SCALE, patched | {"spec": {"replicas": 6}})
        assert replaced["spec"]["replicas"] == 6
        obj = await api.ask("GET", f"{BOXES}/a")
        assert (obj["spec"]["replicas"], obj["spec"]["size"]) == (6, 4)


async def test_a_scale_of_an_older_version_is_a_409() -> None:
    async with api_server() as api:
        await api.put_box("a", replicas=3)
        scale = await api.ask("GET", SCALE)
        await api.ask("PUT", SCALE, scale | {"spec": {"replicas": 4}})
        await api.ask("PUT", SCALE, scale | {"spec": {"replicas": 5}}, code=409)


async def test_replicas_are_a_number_of_0_or_more() -> None:
    async with api_server() as api:
        await api.put_box("a", replicas=3)
        for value, code in ((-1, 422), ("3", 400), (True, 400), (2**31, 422)):
            body = {"spec": {"replicas": value}}
            await api.ask("PATCH", SCALE, body, headers=MERGE, code=code)
        await api.ask("PATCH", SCALE, {"spec": {"replicas": 0}}, headers=MERGE)


async def test_what_has_no_replicas_yet_is_not_taken_for_0_but_can_be_scaled() -> None:
    async with api_server() as api:
        await api.put_box("a")
        await api.ask("GET", SCALE, code=500)
        scaled = await api.ask("PATCH", SCALE, {"spec": {"replicas": 2}}, headers=MERGE)
        assert scaled["spec"]["replicas"] == 2


async def test_a_kind_without_scale_has_none() -> None:
    async with api_server() as api:
        zone = {"apiVersion": "x.io/v1", "kind": "Zone", "metadata": {"name": "z"}}
        await api.ask("POST", "/apis/x.io/v1/zones", zone, code=201)
        await api.ask("GET", "/apis/x.io/v1/zones/z/scale", code=404)


async def test_a_dry_run_scales_nothing() -> None:
    async with api_server() as api:
        await api.put_box("a", replicas=3)
        tried = await api.ask(
            "PATCH", f"{SCALE}?dryRun=All", {"spec": {"replicas": 9}}, headers=MERGE
        )
        assert tried["spec"]["replicas"] == 9
        assert (await api.ask("GET", SCALE))["spec"]["replicas"] == 3
