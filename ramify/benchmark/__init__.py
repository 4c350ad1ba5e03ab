"""How fast Ramify trains, side by side with what else there is; `ramify bench` prints it."""
