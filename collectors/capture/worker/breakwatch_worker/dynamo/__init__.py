"""What Dynamo reports of one traced call: breaks, graphs and the layers they depend on."""
