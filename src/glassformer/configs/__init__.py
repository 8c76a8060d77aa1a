"""Where do specs come from? Presets by name, specs written as `field=value`, and Hugging Face configs."""
