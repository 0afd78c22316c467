"""What a server tells about itself: groups, versions, resources; from memory alone."""

from gputide.kubeapi.discovery.documents import Discovery

__all__ = ["Discovery"]
