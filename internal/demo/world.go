package demo

// world is the set of facts that several sources share: people, translation jobs, baked
// loaves. Each source contains its part of them.
type world struct {
	corpus *corpus
	people *people
	jobs   []job
	bakes  []bake
}

func newWorld() *world {
	w := &world{corpus: readCorpus()}
	w.people = readPeople(w.corpus)
	w.jobs = makeJobs(w.corpus)
	w.bakes = makeBakes(w.corpus)
	return w
}

func (w *world) records(connector, connection string) []record {
	switch connector + "/" + connection {
	case "mail/personal", "mail/work":
		return w.mail(connection)
	case "chat/phone":
		return w.chat()
	case "bank/giro", "bank/savings":
		return w.bank(connection)
	case "notes/notebook":
		return w.notes()
	case "health/watch":
		return w.health()
	}
	return nil
}
