"""The resource of the GPU tutorial, written afresh: the same fields and values, our own order.

path.write_text(ahpa_yaml())
path.write_text(ahpa_yaml(("minReplicas: 0", "minReplicas: 500")))  # with a mistake
"""

AHPA_YAML = """\
apiVersion: autoscaling.alibabacloud.com/v1beta1
kind: AdvancedHorizontalPodAutoscaler
metadata:
  name: fib-gpu
  namespace: default
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: bert-intent-detection
  scaleStrategy: observer
  metrics:
    - type: Resource
      resource:
        name: gpu
        target:
          type: Utilization
          averageUtilization: 20
  minReplicas: 0
  maxReplicas: 100
  prediction:
    quantile: 95
    scaleUpForward: 180
  instanceBounds:
    - startTime: "2021-12-16 00:00:00"
      endTime: "2022-12-16 00:00:00"
      bounds:
        - {cron: "* 0-8 ? * MON-FRI", minReplicas: 4, maxReplicas: 50}
        - {cron: "* 9-15 ? * MON-FRI", minReplicas: 10, maxReplicas: 50}
        - {cron: "* 16-23 ? * MON-FRI", minReplicas: 12, maxReplicas: 50}
"""


def ahpa_yaml(*changes: tuple[str, str]) -> str:
    """Return the YAML with pieces of its text replaced; each must be there."""
    text = AHPA_YAML
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text
