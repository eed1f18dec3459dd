package cli

// globals are the flags of every command. They select the store and the owner (H-7).
type globals struct {
	Data  string `placeholder:"DIR" help:"Data folder (default: the platform's, $PDPP_DATA_DIR)."`
	Owner string `placeholder:"NAME" help:"Owner, if the store has several."`
	Quiet bool   `help:"No colours and no progress."`
}

// commands is the whole command line.
type commands struct {
	globals

	Serve       serveCommand        `cmd:"" help:"Serve the data folder over HTTP."`
	Demo        demoCommand         `cmd:"" help:"Serve invented data, and print commands to try."`
	Connect     connectCommand      `cmd:"" help:"Get a credential for a server, with its owner's approval in a browser."`
	MCP         mcpCommand          `cmd:"" name:"mcp" help:"Serve read-only tools to an assistant over standard input and output."`
	Setup       setupCommand        `cmd:"" help:"Show how to connect an assistant."`
	Credentials credentialsCommands `cmd:"" help:"Manage saved credentials for reading servers."`
	Ingest      ingestCommand       `cmd:"" help:"Store records from files of JSON lines."`
	Import      importCommand       `cmd:"" help:"Store records from CSV or JSON rows."`
	Connections connectionsCommands `cmd:"" help:"Manage accounts and devices that data comes from."`
	Grants      grantsCommands      `cmd:"" help:"Manage what clients may read."`
	Packages    packagesCommands    `cmd:"" help:"Manage packages: several grants with one token."`
	Blobs       blobsCommands       `cmd:"" help:"Check the files that records refer to."`
	Owner       ownerCommands       `cmd:"" help:"Manage owners and their tokens."`
	Backup      backupCommand       `cmd:"" help:"Copy the data folder while it is in use."`
	Doctor      doctorCommand       `cmd:"" help:"Check a server, or the local store and settings."`
	Version     versionCommand      `cmd:"" help:"Print the version."`
}

type connectionsCommands struct {
	List   connectionsList   `cmd:"" help:"List connections with their sizes."`
	Add    connectionsAdd    `cmd:"" help:"Add a connection and the manifest of its source."`
	Rename connectionsRename `cmd:"" help:"Change the label of a connection."`
}

type grantsCommands struct {
	Create   grantsCreate   `cmd:"" help:"Create a grant and its token for a client."`
	List     grantsList     `cmd:"" help:"List grants."`
	Show     grantsShow     `cmd:"" help:"Show one grant."`
	Activity grantsActivity `cmd:"" help:"Show what was read with grants, and what was refused."`
	Revoke   grantsRevoke   `cmd:"" help:"Revoke a grant, effective at once."`
}

type packagesCommands struct {
	Create packagesCreate `cmd:"" help:"Create a package of a client's grants, with one token."`
	List   packagesList   `cmd:"" help:"List packages with their members."`
	Revoke packagesRevoke `cmd:"" help:"Revoke a package and every grant in it, effective at once."`
}

type blobsCommands struct {
	Unknown blobsUnknown `cmd:"" help:"Count or remove blob files that the store does not know."`
}

type credentialsCommands struct {
	Show   credentialsShow   `cmd:"" help:"Print the current token for a server."`
	List   credentialsList   `cmd:"" help:"List saved credentials, without their secrets."`
	Import credentialsImport `cmd:"" help:"Save a token from standard input after a test read."`
	Forget credentialsForget `cmd:"" help:"Remove saved credentials."`
}

type ownerCommands struct {
	List   ownerList          `cmd:"" help:"List owners."`
	Create ownerCreate        `cmd:"" help:"Add an owner."`
	Reset  ownerReset         `cmd:"" help:"Set a new password for an owner, and end all sessions."`
	Audit  ownerAudit         `cmd:"" help:"Show changes of rights and refused tokens."`
	Token  ownerTokenCommands `cmd:"" help:"Manage tokens that may read and write all data of an owner."`
}

type ownerTokenCommands struct {
	Create ownerTokenCreate `cmd:"" help:"Create an owner token."`
	List   ownerTokenList   `cmd:"" help:"List owner tokens, without their values."`
	Revoke ownerTokenRevoke `cmd:"" help:"Revoke an owner token, effective at once."`
}

// jsonFlag is the flag --json of commands with an answer (H-8).
type jsonFlag struct {
	JSON bool `help:"Print the answer as one JSON object."`
}
