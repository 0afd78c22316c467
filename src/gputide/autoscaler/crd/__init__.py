"""The CustomResourceDefinition, made from the structs that read the resource."""
