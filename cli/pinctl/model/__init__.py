"""What is true: frozen values and the rules over them, without input or output."""
