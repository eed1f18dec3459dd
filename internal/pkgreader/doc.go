// Package pkgreader reads a package of grants as if it were one resource server
// (hosted-auth §3): a Package is an rsclient.Reader over one reader per member.
//
// A package has no rights of its own. Every read is made by one member with its own
// grant, so a package cannot show what none of its members may read. Reads of one source
// go to exactly one member, chosen from the membership alone; search and the schema go to
// all of them concurrently, and their answers are merged by splicing the received bytes.
// No member is called only to test whether it works.
package pkgreader
