"""The artifact that leaves the house: its layout, how it is made, and how it is verified."""
