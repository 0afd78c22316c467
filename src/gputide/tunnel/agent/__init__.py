"""The edge end: dials every gateway, fetches pages of its site, keeps them while cut off."""
