"""Field numbers of the messages that are read: number -> (name, type).

Types: string, bytes, int, bool, time, int_or_string, map (string to string), bytes_map, or the
name of a message. `*` after it: a list. `?` after it: 0 and false count where they are sent.
"""

from collections.abc import Mapping

Fields = Mapping[int, tuple[str, str]]


def _object(spec: str = "") -> Fields:
    fields = {1: ("metadata", "ObjectMeta")}
    return fields | ({2: ("spec", spec), 3: ("status", "Skipped")} if spec else {})


_BINDING: Fields = {
    1: ("metadata", "ObjectMeta"),
    2: ("subjects", "Subject*"),
    3: ("roleRef", "RoleRef"),
}
_ROLE: Fields = {1: ("metadata", "ObjectMeta"), 2: ("rules", "PolicyRule*")}

MESSAGES: Mapping[str, Fields] = {
    "ObjectMeta": {
        1: ("name", "string"),
        2: ("generateName", "string"),
        3: ("namespace", "string"),
        5: ("uid", "string"),
        6: ("resourceVersion", "string"),
        7: ("generation", "int"),
        8: ("creationTimestamp", "time"),
        9: ("deletionTimestamp", "time"),
        10: ("deletionGracePeriodSeconds", "int?"),
        11: ("labels", "map"),
        12: ("annotations", "map"),
        13: ("ownerReferences", "OwnerReference*"),
        14: ("finalizers", "string*"),
    },
    "OwnerReference": {
        1: ("kind", "string"),
        3: ("name", "string"),
        4: ("uid", "string"),
        5: ("apiVersion", "string"),
        6: ("controller", "bool?"),
        7: ("blockOwnerDeletion", "bool?"),
    },
    "LabelSelector": {1: ("matchLabels", "map"), 2: ("matchExpressions", "LabelRequirement*")},
    "LabelRequirement": {1: ("key", "string"), 2: ("operator", "string"), 3: ("values", "string*")},
    "Skipped": {},
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int?"),
        2: ("preconditions", "Preconditions"),
        3: ("orphanDependents", "bool?"),
        4: ("propagationPolicy", "string"),
        5: ("dryRun", "string*"),
    },
    "Preconditions": {1: ("uid", "string"), 2: ("resourceVersion", "string")},
    "Namespace": _object("NamespaceSpec"),
    "NamespaceSpec": {1: ("finalizers", "string*")},
    "ConfigMap": {
        1: ("metadata", "ObjectMeta"),
        2: ("data", "map"),
        3: ("binaryData", "bytes_map"),
        4: ("immutable", "bool?"),
    },
    "Secret": {
        1: ("metadata", "ObjectMeta"),
        2: ("data", "bytes_map"),
        3: ("type", "string"),
        4: ("stringData", "map"),
        5: ("immutable", "bool?"),
    },
    "ServiceAccount": {
        1: ("metadata", "ObjectMeta"),
        2: ("secrets", "Named*"),
        3: ("imagePullSecrets", "LocalName*"),
        4: ("automountServiceAccountToken", "bool?"),
    },
    "Named": {1: ("kind", "string"), 2: ("namespace", "string"), 3: ("name", "string")},
    "LocalName": {1: ("name", "string")},
    "Service": _object("ServiceSpec"),
    "ServiceSpec": {
        1: ("ports", "ServicePort*"),
        2: ("selector", "map"),
        3: ("clusterIP", "string"),
        4: ("type", "string"),
        10: ("externalName", "string"),
    },
    "ServicePort": {
        1: ("name", "string"),
        2: ("protocol", "string"),
        3: ("port", "int"),
        4: ("targetPort", "int_or_string"),
        5: ("nodePort", "int"),
        6: ("appProtocol", "string"),
    },
    "Deployment": _object("DeploymentSpec"),
    "DeploymentSpec": {
        1: ("replicas", "int?"),
        2: ("selector", "LabelSelector"),
        3: ("template", "PodTemplate"),
        4: ("strategy", "Strategy"),
    },
    "Strategy": {1: ("type", "string")},
    "Job": _object("JobSpec"),
    "JobSpec": {
        1: ("parallelism", "int?"),
        2: ("completions", "int?"),
        6: ("template", "PodTemplate"),
        7: ("backoffLimit", "int?"),
    },
    "PodTemplate": {1: ("metadata", "ObjectMeta"), 2: ("spec", "PodSpec")},
    "PodSpec": {
        2: ("containers", "Container*"),
        3: ("restartPolicy", "string"),
        8: ("serviceAccountName", "string"),
    },
    "Container": {
        1: ("name", "string"),
        2: ("image", "string"),
        3: ("command", "string*"),
        4: ("args", "string*"),
        6: ("ports", "ContainerPort*"),
        7: ("env", "Variable*"),
        8: ("resources", "Skipped"),
    },
    "ContainerPort": {
        1: ("name", "string"),
        2: ("hostPort", "int"),
        3: ("containerPort", "int"),
        4: ("protocol", "string"),
    },
    "Variable": {1: ("name", "string"), 2: ("value", "string")},
    "Role": _ROLE,
    "ClusterRole": _ROLE,
    "PolicyRule": {
        1: ("verbs", "string*"),
        2: ("apiGroups", "string*"),
        3: ("resources", "string*"),
        4: ("resourceNames", "string*"),
        5: ("nonResourceURLs", "string*"),
    },
    "RoleBinding": _BINDING,
    "ClusterRoleBinding": _BINDING,
    "Subject": {
        1: ("kind", "string"),
        2: ("apiGroup", "string"),
        3: ("name", "string"),
        4: ("namespace", "string"),
    },
    "RoleRef": {1: ("apiGroup", "string"), 2: ("kind", "string"), 3: ("name", "string")},
    "TokenReview": _object("TokenReviewSpec"),
    "TokenReviewSpec": {1: ("token", "string"), 2: ("audiences", "string*")},
    "SelfSubjectReview": {1: ("metadata", "ObjectMeta"), 2: ("status", "Skipped")},
    "SelfSubjectAccessReview": _object("AccessSpec"),
    "SubjectAccessReview": _object("AccessSpec"),
    "AccessSpec": {
        1: ("resourceAttributes", "ResourceAttributes"),
        2: ("nonResourceAttributes", "PathAttributes"),
        3: ("user", "string"),
        4: ("groups", "string*"),
        6: ("uid", "string"),
    },
    "ResourceAttributes": {
        1: ("namespace", "string"),
        2: ("verb", "string"),
        3: ("group", "string"),
        4: ("version", "string"),
        5: ("resource", "string"),
        6: ("subresource", "string"),
        7: ("name", "string"),
    },
    "PathAttributes": {1: ("path", "string"), 2: ("verb", "string")},
}
READ = frozenset(
    {
        "Namespace", "ConfigMap", "Secret", "ServiceAccount", "Service", "Deployment", "Job",
        "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "TokenReview",
        "SelfSubjectReview", "SelfSubjectAccessReview", "SubjectAccessReview", "DeleteOptions",
    }
)  # fmt: skip
"""Kinds that may come as protobuf."""
