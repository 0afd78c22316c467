"""What an agent does while nobody asks: it goes on scraping, keeps the pages, sends them later."""
