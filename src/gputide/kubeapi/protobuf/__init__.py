"""Bodies that kubectl's typed commands send as protobuf (create namespace, auth can-i): read only.

Answers are JSON always, which every client takes as well.
"""

from gputide.kubeapi.protobuf.decode import MEDIA_TYPE, decoded

__all__ = ["MEDIA_TYPE", "decoded"]
