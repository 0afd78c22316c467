"""What would each scaling policy have cost, and where would it have hurt?"""
