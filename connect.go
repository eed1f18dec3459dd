package pdpp

// ConnectCommand is the command that gets a credential for a server. All advice to do
// so takes it from here. There is no authorization in the browser yet, so it is the
// one that the owner runs where the data is kept.
func ConnectCommand(provider string) string {
	return "pdpp grants create --client NAME --spec FILE --save-credential " + provider
}
