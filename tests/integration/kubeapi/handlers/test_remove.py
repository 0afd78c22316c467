from fakes.api_servers import BOXES, MERGE, api_server


async def test_a_delete_says_what_is_gone() -> None:
    async with api_server() as api:
        uid = (await api.put_box("a"))["metadata"]["uid"]
        status = await api.ask("DELETE", f"{BOXES}/a", {"propagationPolicy": "Background"})
        assert status["status"] == "Success"
        assert status["details"] == {"name": "a", "group": "x.io", "kind": "boxes", "uid": uid}
        await api.ask("GET", f"{BOXES}/a", code=404)
        await api.ask("DELETE", f"{BOXES}/a", code=404)


async def test_an_object_with_a_finalizer_waits() -> None:
    async with api_server() as api:
        await api.put_box("a")
        held = {"metadata": {"finalizers": ["x.io/wait"]}}
        await api.ask("PATCH", f"{BOXES}/a", held, headers=MERGE)
        waiting = await api.ask("DELETE", f"{BOXES}/a")
        assert waiting["metadata"]["deletionTimestamp"]
        free = {"metadata": {"finalizers": None}}
        await api.ask("PATCH", f"{BOXES}/a", free, headers=MERGE)
        await api.ask("GET", f"{BOXES}/a", code=404)


async def test_preconditions_hold_or_nothing_happens() -> None:
    async with api_server() as api:
        await api.put_box("a")
        for name in ("uid", "resourceVersion"):
            body = {"preconditions": {name: "other"}}
            assert (await api.ask("DELETE", f"{BOXES}/a", body, code=409))["reason"] == "Conflict"
        await api.ask("GET", f"{BOXES}/a")


async def test_a_dry_run_deletes_nothing() -> None:
    async with api_server() as api:
        await api.put_box("a")
        await api.ask("DELETE", f"{BOXES}/a?dryRun=All")
        await api.ask("DELETE", f"{BOXES}/a", {"dryRun": ["All"]})
        await api.ask("GET", f"{BOXES}/a")


async def test_a_collection_goes_by_its_selector() -> None:
    async with api_server() as api:
        for name in "abc":
            await api.put_box(name, mode="b" if name == "b" else "a")
        gone = await api.ask("DELETE", f"{BOXES}?fieldSelector=spec.mode%3Da")
        assert [one["metadata"]["name"] for one in gone["items"]] == ["a", "c"]
        left = await api.ask("GET", BOXES)
        assert [one["metadata"]["name"] for one in left["items"]] == ["b"]


async def test_options_that_cannot_be_read_are_a_400() -> None:
    async with api_server() as api:
        await api.put_box("a")
        for body in ([], {"preconditions": 1}, {"preconditions": {"uid": 1}}, {"dryRun": "All"}):
            await api.ask("DELETE", f"{BOXES}/a", body, code=400)
        await api.ask("DELETE", f"{BOXES}/a?propagationPolicy=Sideways", code=400)
