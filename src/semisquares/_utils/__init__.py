"""What any layer may need and no layer owns: errors, files, worker processes, versions."""
