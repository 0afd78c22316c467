"""What `gputide forecast` says of one load: verdict, next 24 hours, bound over the lead."""
