"""Distributed training: process groups, parallel encoders and sharded states."""
