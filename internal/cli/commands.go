package cli

// globals are the flags every command has: they say which store (H-7).
type globals struct {
	Data  string `placeholder:"DIR" help:"Data folder (default: the platform's, $PDPP_DATA_DIR)."`
	Owner string `placeholder:"NAME" help:"Owner, when the store has several."`
	Quiet bool   `help:"No colours and no progress."`
}

// commands is the whole command line.
type commands struct {
	globals

	Serve       serveCommand        `cmd:"" help:"Serve the data of this folder."`
	Demo        demoCommand         `cmd:"" help:"Try everything with invented data."`
	MCP         mcpCommand          `cmd:"" name:"mcp" help:"Give an assistant read-only tools over standard input and output."`
	Setup       setupCommand        `cmd:"" help:"Show how to connect an assistant."`
	Credentials credentialsCommands `cmd:"" help:"Saved credentials for reading a server."`
	Ingest      ingestCommand       `cmd:"" help:"Take in records from JSON lines."`
	Import      importCommand       `cmd:"" help:"Take in plain rows: CSV or JSON."`
	Connections connectionsCommands `cmd:"" help:"Accounts and devices that data comes from."`
	Grants      grantsCommands      `cmd:"" help:"Who may read what."`
	Packages    packagesCommands    `cmd:"" help:"Several grants behind one token."`
	Blobs       blobsCommands       `cmd:"" help:"Files that records refer to."`
	Owner       ownerCommands       `cmd:"" help:"Owners and their own tokens."`
	Backup      backupCommand       `cmd:"" help:"Copy the data folder while it is in use."`
	Doctor      doctorCommand       `cmd:"" help:"Find out what is wrong with a server, or with the store here."`
	Version     versionCommand      `cmd:"" help:"Say which version this is."`
}

type connectionsCommands struct {
	List   connectionsList   `cmd:"" help:"List connections with their sizes."`
	Add    connectionsAdd    `cmd:"" help:"Register a source and connect it."`
	Rename connectionsRename `cmd:"" help:"Change the label of a connection."`
}

type grantsCommands struct {
	Create grantsCreate `cmd:"" help:"Give a client a grant, and a token for it."`
	List   grantsList   `cmd:"" help:"List grants."`
	Show   grantsShow   `cmd:"" help:"Show one grant."`
	Revoke grantsRevoke `cmd:"" help:"Withdraw a grant, effective at once."`
}

type packagesCommands struct {
	Create packagesCreate `cmd:"" help:"Put grants of a client behind one token."`
	List   packagesList   `cmd:"" help:"List packages with their members."`
	Revoke packagesRevoke `cmd:"" help:"Withdraw a package and every grant in it, effective at once."`
}

type blobsCommands struct {
	Unknown blobsUnknown `cmd:"" help:"Count files of blobs that the store does not know, or remove them."`
}

type credentialsCommands struct {
	Show   credentialsShow   `cmd:"" default:"withargs" help:"Print the current token for a server."`
	List   credentialsList   `cmd:"" help:"List saved credentials, without their secrets."`
	Import credentialsImport `cmd:"" help:"Save a token, read from standard input, after trying it."`
	Forget credentialsForget `cmd:"" help:"Remove saved credentials."`
}

type ownerCommands struct {
	List   ownerList          `cmd:"" help:"List owners."`
	Create ownerCreate        `cmd:"" help:"Add an owner."`
	Token  ownerTokenCommands `cmd:"" help:"Tokens that may read and write everything of an owner."`
}

type ownerTokenCommands struct {
	Create ownerTokenCreate `cmd:"" help:"Make an owner token."`
	List   ownerTokenList   `cmd:"" help:"List owner tokens, without their values."`
	Revoke ownerTokenRevoke `cmd:"" help:"End an owner token at once."`
}

// jsonFlag is the --json of commands that have an answer (H-8).
type jsonFlag struct {
	JSON bool `help:"Answer with one JSON object."`
}
