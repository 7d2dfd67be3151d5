"""The embedded stack: three small repositories whose landing has an order, built from files that stand here."""
