from fakes.api_servers import TABLE, api_server

LOADS = "/apis/load.x.io/v1/namespaces/n/loads"


async def test_a_computed_group_is_asked_what_the_client_asked() -> None:
    async with api_server() as api:
        path = "/apis/load.x.io/v1/namespaces/n/pods/%2A/load?labelSelector=a%3Db&x=1&x=2"
        assert (await api.ask("GET", path))["value"] == "63500m"
        (asked,) = api.loads.asked
        assert (asked.verb, asked.resource, asked.subresource) == ("get", "pods", "load")
        assert (asked.namespace, asked.name) == ("n", "*")
        assert asked.query == {"labelSelector": ("a=b",), "x": ("1", "2")}


async def test_named_answers_become_a_table() -> None:
    async with api_server() as api:
        table = await api.ask("GET", LOADS, headers={"accept": TABLE})
        assert table["kind"] == "Table"
        assert table["rows"][0]["cells"][0] == "one"
        single = await api.ask("GET", f"{LOADS}/two", headers={"accept": TABLE})
        assert single["rows"][0]["cells"][0] == "two"


async def test_its_refusals_are_passed_on() -> None:
    async with api_server() as api:
        status = await api.ask("GET", f"{LOADS}/absent", code=404)
        assert status["message"] == 'loads.load.x.io "absent" not found'


async def test_it_can_be_read_alone() -> None:
    async with api_server() as api:
        await api.ask("POST", LOADS, {}, code=405)
        await api.ask("DELETE", f"{LOADS}/one", code=405)
        await api.ask("GET", f"{LOADS}?watch=true", code=405)
        assert api.loads.asked == []
