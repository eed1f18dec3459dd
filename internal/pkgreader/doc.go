// Package pkgreader reads a package of grants as if it were one resource server
// (hosted-auth §3): a Package is an rsclient.Reader over one reader per member.
//
// A package has no rights of its own. Every read is a member's own read, with that
// member's grant; what a member may not see, the package cannot show. Reads of one
// source go to exactly one member, chosen from the membership alone; search and the
// schema go to all of them at once and their answers are merged by splicing the
// received bytes. No member is ever called to find out whether it works.
package pkgreader
