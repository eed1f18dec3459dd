package pdpp

// ConnectCommand returns the command, without the name of the program, that obtains a credential for a server, for messages
// that recommend it. The owner runs it on the machine that has the data, because there is
// no authorization in the browser yet.
func ConnectCommand(provider string) string {
	return "grants create --client NAME --spec FILE --save-credential " + provider
}
