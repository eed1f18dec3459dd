package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// server is a server process that is killed and restarted on the same address.
type server struct {
	world  *world
	report *report
	addr   string

	// epoch is odd while the server is down. A failed request is a problem if the epoch was
	// even and did not change.
	epoch atomic.Int64

	mu  sync.Mutex
	cmd *exec.Cmd
	log *os.File
}

func startServer(ctx context.Context, w *world, r *report) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{world: w, report: r, addr: l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	s.epoch.Store(1)
	if s.log, err = os.Create(filepath.Join(w.dir, "server.log")); err != nil {
		return nil, err
	}
	return s, s.start(ctx)
}

// start starts the process and waits until it answers.
func (s *server) start(ctx context.Context) error {
	cmd := exec.Command(s.world.program, "--data", s.world.data, "serve", "--listen", s.addr, "--rate-limit", "off", "--log-level", "warn")
	cmd.Stdout, cmd.Stderr = s.log, s.log
	s.mu.Lock()
	s.cmd = cmd
	err := cmd.Start()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		res, err := probe.Get(s.url() + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				s.epoch.Add(1)
				return nil
			}
		}
		if !pause(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
	text, err := os.ReadFile(s.log.Name())
	return errors.Join(fmt.Errorf("the server does not start:\n%s", text), err)
}

func (s *server) url() string { return "http://" + s.addr }

// restart kills the server and starts it again.
func (s *server) restart(ctx context.Context) {
	s.measure()
	s.kill()
	s.report.count("kills")
	if err := s.start(ctx); err != nil && ctx.Err() == nil {
		s.report.problem("after a kill: %v", err)
	}
}

// kill kills the process.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	s.epoch.Add(1)
	if err := s.cmd.Process.Kill(); err != nil {
		s.report.problem("kill: %v", err)
	}
	_ = s.cmd.Wait() // returns that it was killed
	s.cmd = nil
}

// measure records the peak memory of the process, if the system reports it.
func (s *server) measure() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.report.count("memory not measured")
		return
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kb, 10, 64)
	if err != nil {
		s.report.problem("the memory of the server cannot be read: %v", err)
		return
	}
	s.report.memory(n / 1000)
}

// probe asks whether the server is there; one that does not say so soon is not.
var probe = &http.Client{Timeout: 10 * time.Second}
