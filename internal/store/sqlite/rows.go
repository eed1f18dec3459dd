package sqlite

import "pdpp/internal/store/sqlite/engine"

// each calls read with every row of a statement, until read fails.
func each(c *engine.Conn, read func(*engine.Stmt) error, sql string, args ...any) error {
	s, err := c.Query(sql, args...)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		if row, err := s.Step(); err != nil || !row {
			return err
		}
		if err := read(s); err != nil {
			return err
		}
	}
}

// all reads every row of a statement.
func all[T any](c *engine.Conn, read func(*engine.Stmt) T, sql string, args ...any) (out []T, err error) {
	err = each(c, func(s *engine.Stmt) error {
		out = append(out, read(s))
		return nil
	}, sql, args...)
	return out, err
}

// first reads the first row of a statement. Without a row it returns missing, which may
// be nil.
func first[T any](c *engine.Conn, read func(*engine.Stmt) T, missing error, sql string, args ...any) (out T, err error) {
	s, err := c.Query(sql, args...)
	if err != nil {
		return out, err
	}
	defer s.Close()
	row, err := s.Step()
	if err != nil {
		return out, err
	}
	if !row {
		return out, missing
	}
	return read(s), nil
}

// queryInt returns the first column of the first row; 0 when there is none.
func queryInt(c *engine.Conn, sql string, args ...any) (int64, error) {
	return first(c, func(s *engine.Stmt) int64 { return s.Int(0) }, nil, sql, args...)
}

// queryText returns the first column of the first row; "" when there is none.
func queryText(c *engine.Conn, sql string, args ...any) (string, error) {
	return first(c, func(s *engine.Stmt) string { return s.Text(0) }, nil, sql, args...)
}
