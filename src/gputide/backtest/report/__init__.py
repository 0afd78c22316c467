"""What a backtest found, for people and for programs: terminal table, JSON, and one HTML page."""
