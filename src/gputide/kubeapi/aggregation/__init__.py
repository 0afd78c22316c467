"""Group versions that other servers answer: APIService objects, a front proxy, health."""

from gputide.kubeapi.aggregation.identity import FrontProxy, published
from gputide.kubeapi.aggregation.run import Aggregator

__all__ = ["Aggregator", "FrontProxy", "published"]
