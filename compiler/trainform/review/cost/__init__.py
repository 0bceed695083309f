"""What jobs cost, by the prices of their Environment. Amounts are exact, and rounded only where they are shown."""
