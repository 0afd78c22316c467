from fakes.api_servers import BOXES, TABLE, Api, api_server


async def names(api: Api, query: str, path: str = BOXES) -> list[str]:
    listed = await api.ask("GET", f"{path}?{query}")
    return [one["metadata"]["name"] for one in listed["items"]]


async def test_an_object_is_read_as_it_was_stored() -> None:
    async with api_server() as api:
        stored = await api.put_box("a", size=3)
        assert await api.ask("GET", f"{BOXES}/a") == stored


async def test_a_list_says_its_kind_and_version() -> None:
    async with api_server() as api:
        await api.put_box("a")
        listed = await api.ask("GET", BOXES)
        assert (listed["kind"], listed["apiVersion"]) == ("BoxList", "x.io/v1")
        assert int(listed["metadata"]["resourceVersion"]) >= 1


async def test_a_list_comes_in_pages() -> None:
    async with api_server() as api:
        for name in "abcde":
            await api.put_box(name)
        first = await api.ask("GET", f"{BOXES}?limit=2")
        token = first["metadata"]["continue"]
        assert first["metadata"]["remainingItemCount"] == 3
        assert await names(api, f"limit=9&continue={token}") == ["c", "d", "e"]


async def test_selectors_choose() -> None:
    async with api_server() as api:
        for name in "ab":
            await api.put_box(name, mode=name)
        merge = {"content-type": "application/merge-patch+json"}
        labels = {"metadata": {"labels": {"team": "x"}}}
        await api.ask("PATCH", f"{BOXES}/b", labels, headers=merge)
        assert await names(api, "labelSelector=team%20in%20(x)") == ["b"]
        assert await names(api, "fieldSelector=spec.mode%3Da") == ["a"]
        assert await names(api, "", "/apis/x.io/v1/boxes") == ["a", "b"]
        assert await names(api, "", "/apis/x.io/v1/namespaces/other/boxes") == []


async def test_kubectl_gets_a_table() -> None:
    async with api_server() as api:
        await api.put_box("a", size=3)
        for path in (BOXES, f"{BOXES}/a"):
            table = await api.ask("GET", path, headers={"accept": TABLE})
            assert table["kind"] == "Table"
            assert table["rows"][0]["cells"] == ["a", 3, "a", "0s"]


async def test_what_is_not_there_is_a_404_that_names_it() -> None:
    async with api_server() as api:
        status = await api.ask("GET", f"{BOXES}/a", code=404)
        assert status["message"] == 'boxes.x.io "a" not found'
        for path in ("/apis/x.io/v1/bottles", "/apis/x.io/v2/boxes", f"{BOXES}/a/parts"):
            assert (await api.ask("GET", path, code=404))["reason"] == "NotFound"


async def test_what_cannot_be_read_is_a_400() -> None:
    async with api_server() as api:
        for query in ("labelSelector=a%3Db%3Dc", "limit=x", "limit=-1", "continue=zzz"):
            assert (await api.ask("GET", f"{BOXES}?{query}", code=400))["kind"] == "Status"


async def test_an_older_state_is_not_kept() -> None:
    async with api_server() as api:
        await api.put_box("a")
        await api.put_box("b")
        query = "resourceVersion=2&resourceVersionMatch=Exact"
        await api.ask("GET", f"{BOXES}?{query}", code=410)


async def test_a_form_that_is_not_on_offer_is_a_406() -> None:
    async with api_server() as api:
        accept = {"accept": "application/vnd.kubernetes.protobuf"}
        await api.ask("GET", BOXES, headers=accept, code=406)
