package cli

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"pdpp"
)

// terminal returns the two ends of a new pseudo-terminal.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	var unlock, number int32
	for _, call := range []struct {
		request uintptr
		value   *int32
	}{{syscall.TIOCSPTLCK, &unlock}, {syscall.TIOCGPTN, &number}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keyboard.Fd(), call.request, uintptr(unsafe.Pointer(call.value))); errno != 0 {
			t.Skipf("no pseudo-terminals here: %v", errno)
		}
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

func TestH188PromptsTwice(t *testing.T) {
	for typed, want := range map[string]string{
		"a long password\na long password\n": "a long password",
		"a long password\na Long password\n": "",
	} {
		keyboard, screen := terminal(t)
		var shown bytes.Buffer
		a := &app{Env: Env{Stdin: screen, Stderr: &shown}}
		if _, err := keyboard.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		got, err := a.newPassword("")
		if got != want || (want == "") != (pdpp.CodeOf(err) == pdpp.CodeInvalidInput) {
			t.Errorf("typed %q: %q, %v", typed, got, err)
		}
		if shown.String() != "New password: \nThe same again: \n" {
			t.Errorf("prompts %q", shown.String())
		}
	}
}
