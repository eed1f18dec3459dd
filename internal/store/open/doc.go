// Package open opens the store that a location names: a folder, or a URL such as
// sqlite:///folder. It is the only place that chooses between the kinds of stores.
package open
