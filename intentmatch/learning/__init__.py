"""What is trained on a registry's own utterances: head, cross-validation, calibration."""
