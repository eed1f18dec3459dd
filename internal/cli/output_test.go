package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Output contains no invisible characters (EX-7).
func TestOutputWithoutInvisibleCharacters(t *testing.T) {
	const label = "Bank\u202egnp.exe\u200b\ufeff\U000e0041 👩\u200d🚀 می\u200cخواهم"
	var out, errs bytes.Buffer
	a := &app{Env: Env{Stdout: &out, Stderr: &errs}}
	if err := a.print(table([]string{"name", label}) + label + "\n"); err != nil {
		t.Fatal(err)
	}
	a.note("%s", label)
	for _, text := range []string{out.String(), errs.String()} {
		if strings.ContainsAny(text, "\u202e\u200b\ufeff\U000e0041") || !strings.Contains(text, "Bank\ufffdgnp.exe\ufffd\ufffd\ufffd 👩\u200d🚀 می\u200cخواهم") {
			t.Errorf("EX-7 printed %+q", text)
		}
	}
	out.Reset()
	if err := a.printJSON(map[string]string{"label": label}); err != nil {
		t.Fatal(err)
	}
	var read map[string]string
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read["label"] != label || strings.ContainsAny(out.String(), "\u202e\u200b\ufeff\U000e0041") {
		t.Errorf("EX-7 --json printed %+q, read as %+q, %v", out.String(), read["label"], err)
	}
}
