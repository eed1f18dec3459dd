package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pdpp"
	"pdpp/internal/signin"
)

// passwordInput bounds the bytes that are read of a password: the longest one and a newline.
const passwordInput = signin.MaxPasswordBytes + 2

// newPassword reads a new password: from a file, twice from the terminal, or else one line
// of standard input. It is never a flag, because other users can see flags (H-9).
func (a *app) newPassword(file string) (string, error) {
	switch {
	case file != "":
		return readPasswordFile(file)
	case isTerminal(a.Stdin):
		return a.promptPassword()
	}
	line, err := bufio.NewReader(io.LimitReader(a.Stdin, passwordInput)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", passwordUnreadable(err)
	}
	return withoutNewline(line), nil
}

// readPasswordFile reads a password from a file, without the newline at its end.
func readPasswordFile(path string) (string, error) {
	raw, err := readFile(path, passwordInput)
	return withoutNewline(string(raw)), err
}

func withoutNewline(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }

// promptPassword asks for a password twice, without showing it.
func (a *app) promptPassword() (string, error) {
	var typed [2]string
	for i, question := range []string{"New password: ", "The same again: "} {
		if _, err := io.WriteString(a.Stderr, question); err != nil {
			return "", passwordUnreadable(err)
		}
		b, err := term.ReadPassword(int(a.Stdin.(*os.File).Fd()))
		a.note("")
		if err != nil {
			return "", passwordUnreadable(err)
		}
		typed[i] = string(b)
	}
	if typed[0] != typed[1] {
		return "", pdpp.Errorf(pdpp.CodeInvalidInput, "The two passwords differ. Nothing was changed.")
	}
	return typed[0], nil
}

func passwordUnreadable(err error) error {
	return &pdpp.Error{Code: pdpp.CodeInputMissing, Message: "The password could not be read.", Err: err}
}
