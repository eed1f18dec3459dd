package pdpp

// The limits of reads. Every layer that checks, advertises or explains a limit uses
// these.
const (
	DefaultPage = 25  // records, hits or changes of a page (C-9)
	MaxPage     = 100 // the same

	DefaultGroups  = 10  // groups by value (AG-6)
	DefaultBuckets = 100 // groups by time (AG-6)
	MaxGroups      = 100

	DefaultExpand    = 10 // related records of one relation (M-8)
	DefaultMaxExpand = 50 // the maximum of a relation that declares none
	MaxExpand        = 100

	DefaultWindow = 4096 // characters of a field window (FW-1)
	MaxWindow     = 16384
	MaxContext    = 8192 // characters on each side of a match (FW-1)

	MinPageBytes = 4 << 10 // the smallest page that a client can prefer (REC-38)
	MaxPageBytes = 8 << 20 // the largest, and the size at which a page without a preference ends (REC-10)

	MaxFilterFields = 16   // REC-18
	MaxOperand      = 1024 // bytes (REC-18)

	MaxListedConnections = 12 // in an error (C-43, H-89)
)
