"""The cluster as the controller sees and changes it."""
