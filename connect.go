package pdpp

// ConnectCommand returns the command that gets a credential for a server, without the name
// of the program, for messages that recommend it.
func ConnectCommand(provider string) string { return "connect " + provider }
