from gputide.kubeapi.kinds import podspec


def test_defaults_are_those_that_kubelets_and_controllers_rely_on() -> None:
    spec = podspec.defaulted(
        {
            "restartPolicy": "Never",
            "containers": [
                {"name": "a", "image": "r:5000/x", "ports": [{"containerPort": 80}]},
                {"name": "b", "image": "x:1.2", "readinessProbe": {"httpGet": {"port": 1}}},
                {"name": "c", "image": "x@sha256:00", "imagePullPolicy": "Never"},
            ],
        }
    )
    first, second, third = spec["containers"]

    assert (spec["restartPolicy"], spec["dnsPolicy"]) == ("Never", "ClusterFirst")
    assert first["imagePullPolicy"] == "Always"
    assert first["ports"] == [{"protocol": "TCP", "containerPort": 80}]
    assert second["imagePullPolicy"] == "IfNotPresent"
    assert second["readinessProbe"]["httpGet"] == {"path": "/", "scheme": "HTTP", "port": 1}
    assert second["readinessProbe"]["failureThreshold"] == 3
    assert third["imagePullPolicy"] == "Never"


def test_what_is_wrong_with_a_pod_is_named_with_its_place() -> None:
    assert [one.field for one in podspec.problems({}, "spec")] == ["spec.containers"]
    twice = {"containers": [{"name": "a", "image": "x"}, {"name": "a"}]}
    assert [(one.field, one.message) for one in podspec.problems(twice, "spec")] == [
        ("spec.containers[1].image", "Required value"),
        ("spec.containers[1].name", 'Duplicate value: "a"'),
    ]


def test_the_selector_of_a_workload_must_match_its_pods_and_stay() -> None:
    template = {"metadata": {"labels": {"app": "b"}}}
    template["spec"] = {"containers": [{"name": "a", "image": "x"}]}
    obj = {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}}

    assert [one.field for one in podspec.template_problems(obj)] == [
        "spec.template.metadata.labels"
    ]
    changed = {"spec": {"selector": {"matchLabels": {"app": "c"}}}}
    assert [one.message for one in podspec.selector_kept(obj, changed)] == [
        'Invalid value: {"matchLabels":{"app":"a"}}: field is immutable'
    ]
    assert list(podspec.selector_kept(obj, obj)) == list(podspec.selector_kept(obj, None)) == []


def test_keys_of_all_kinds_of_containers_are_told() -> None:
    keys = podspec.merge_keys("spec")

    assert keys["spec.containers.ports"] == "containerPort,protocol=TCP"
    assert keys["spec.initContainers"] == keys["spec.ephemeralContainers.env"] == "name"
