"""An explanation as a person reads it; the integration tests ask a real Prometheus for one."""

from gputide.metricsapi.explain import lines


def test_rules_queries_values_and_problems_each_have_a_line() -> None:
    explained = {
        "metric": "gpu_util",
        "namespace": "n",
        "verdict": "rules[0] has it",
        "warnings": ["resourceRules: not served"],
        "rules": [
            {
                "rule": "rules[0]",
                "seriesQuery": "G",
                "seriesFound": 1,
                "series": [{"name": "G", "labels": ["gpu", "pod"]}],
                "resources": ["pods"],
                "queries": ["avg(G{}) by (pod)"],
            },
            {
                "rule": "externalRules[0]",
                "seriesQuery": "H",
                "problem": "HTTP 500",
                "valuesFound": 1,
                "values": [
                    {"value": "1", "timestamp": "t", "ageSeconds": 15, "metricLabels": {}},
                    {"object": "pods/a", "value": "2", "timestamp": "t", "ageSeconds": 9},
                ],
            },
        ],
    }

    assert list(lines(explained)) == [
        "gpu_util: rules[0] has it",
        "  resourceRules: not served",
        "rules[0]  G",
        "  series: G, labels gpu, pod",
        "  query: avg(G{}) by (pod)",
        "  series names found: 1",
        "  resources: pods",
        "externalRules[0]  H",
        "  values: 1",
        "  problem: HTTP 500",
        "    1 at t, 15 s old: {}",
        "    2 at t, 9 s old: pods/a",
    ]
