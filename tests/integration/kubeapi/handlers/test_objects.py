from fakes.api_servers import BOXES, api_server, box

ZONES = "/apis/x.io/v1/zones"


async def test_a_cluster_scoped_kind_lies_in_no_namespace() -> None:
    async with api_server() as api:
        zone = {"apiVersion": "x.io/v1", "kind": "Zone", "metadata": {"name": "z"}}
        await api.ask("POST", ZONES, zone, code=201)
        assert (await api.ask("GET", f"{ZONES}/z"))["metadata"]["name"] == "z"
        await api.ask("GET", "/apis/x.io/v1/namespaces/n/zones", code=404)


async def test_across_namespaces_one_can_list_and_nothing_else() -> None:
    async with api_server() as api:
        await api.ask("POST", "/apis/x.io/v1/boxes", box("a"), code=405)
        await api.ask("GET", "/apis/x.io/v1/boxes/a", code=405)
        await api.ask("GET", "/apis/x.io/v1/boxes")


async def test_a_part_knows_fewer_verbs() -> None:
    async with api_server() as api:
        await api.put_box("a")
        await api.ask("DELETE", f"{BOXES}/a/status", code=405)
        await api.ask("DELETE", f"{BOXES}/a/scale", code=405)
        await api.ask("OPTIONS", f"{BOXES}/a", code=405)
