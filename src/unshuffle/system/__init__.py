"""One system composed of slots: its configuration, its network, its folder, and the `Orderer` that users call."""
