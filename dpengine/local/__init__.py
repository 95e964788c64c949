"""What a device does to an answer, and what is learned of all reports together."""

from dpengine.local.channels import channel_for, number_for

__all__ = ["channel_for", "number_for"]
