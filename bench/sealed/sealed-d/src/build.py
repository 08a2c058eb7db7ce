#!/usr/bin/env python3
"""Re-create ../history.jsonl and ../questions.json from the source parts beside this file,
and check them.  Usage: python3 build.py [-v]   (standard library only)

sessions_NN.txt   '=== id start', then turns '>>U [+Nm] [#label ...]' / '>>A [...]'
q_*.py            Q = [dict(m=message, gold=[labels], also=[...], earlier=[...], a=answer, note=..., ...)]
  check-only keys: key (regex the gold turn(s) must match; other matching turns are reported with -v
  unless listed in also/earlier/ok), topic (word stems that must be absent from the newest turn),
  absent (regexes that may not occur anywhere in the history)
"""
import datetime as dt, glob, json, os, random, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.dirname(HERE)
VERBOSE = "-v" in sys.argv
KINDS = ["told-once", "changed", "paraphrase", "needed-by-task", "never-told", "unrelated"]
DST_END = dt.datetime(2026, 11, 1, 2)            # America/Chicago
errors = []


def err(*a):
    errors.append(" ".join(str(x) for x in a))


# ---------------------------------------------------------------- Porter stemmer (1980 algorithm)
def stem(w):
    if len(w) <= 2:
        return w
    V = "aeiou"

    def cons(s, i):
        if s[i] in V:
            return False
        if s[i] == "y":
            return i == 0 or not cons(s, i - 1)
        return True

    def m(s):
        f = "".join("c" if cons(s, i) else "v" for i in range(len(s)))
        return len(re.findall(r"v+c+", f))

    def hasv(s):
        return any(not cons(s, i) for i in range(len(s)))

    def dbl(s):
        return len(s) > 1 and s[-1] == s[-2] and cons(s, len(s) - 1)

    def cvc(s):
        return (len(s) > 2 and cons(s, len(s) - 3) and not cons(s, len(s) - 2)
                and cons(s, len(s) - 1) and s[-1] not in "wxy")
    if w.endswith("sses"): w = w[:-2]
    elif w.endswith("ies"): w = w[:-2]
    elif w.endswith("ss"): pass
    elif w.endswith("s"): w = w[:-1]
    flag = False
    if w.endswith("eed"):
        if m(w[:-3]) > 0: w = w[:-1]
    elif w.endswith("ed") and hasv(w[:-2]): w, flag = w[:-2], True
    elif w.endswith("ing") and hasv(w[:-3]): w, flag = w[:-3], True
    if flag:
        if w.endswith(("at", "bl", "iz")): w += "e"
        elif dbl(w) and w[-1] not in "lsz": w = w[:-1]
        elif m(w) == 1 and cvc(w): w += "e"
    if w.endswith("y") and hasv(w[:-1]): w = w[:-1] + "i"
    for a, b in [("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
                 ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
                 ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
                 ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")]:
        if w.endswith(a):
            if m(w[:-len(a)]) > 0: w = w[:-len(a)] + b
            break
    for a, b in [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")]:
        if w.endswith(a):
            if m(w[:-len(a)]) > 0: w = w[:-len(a)] + b
            break
    for a in ["ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
              "ion", "al", "er", "ic", "ou"]:
        if w.endswith(a):
            s = w[:-len(a)]
            if m(s) > 1 and (a != "ion" or s[-1:] in "st"): w = s
            break
    if w.endswith("e"):
        s = w[:-1]
        if m(s) > 1 or (m(s) == 1 and not cvc(s)): w = s
    if m(w) > 1 and dbl(w) and w[-1] == "l": w = w[:-1]
    return w


STOP = set("""a about above after again against all also am an and any anybody anyone anything are aren't as at away be
became because become been before behind being below between both but by can can't cannot could couldn't did didn't do
does doesn't doing don't done down during each either else ever every everybody everyone few for from further get gets
getting go goes going gone got had hadn't has hasn't have haven't having he he'd he'll he's her here hers herself him
himself his how i i'd i'll i'm i've if in into is isn't it it's its itself just let's many may me might more most much
must my myself no nor not now of off on once one only or other our ours ourselves out over own same shall she she'd
she'll she's should shouldn't since so some somebody someone something such than that that's the their theirs them
themselves then there there's these they they'd they'll they're they've this those through to too under until up us very
was wasn't we we'd we'll we're we've were weren't what what's when when's where where's which while who who's whom whose
why will with won't would wouldn't yet you you'd you'll you're you've your yours yourself again still ok""".split())


def words(t):
    return [w.strip("'") for w in re.findall(r"[a-zà-ÿ0-9]+(?:'[a-z]+)?", t.lower().replace("’", "'"))]


def content(t):
    out = {}
    for w in words(t):
        if w in STOP or w.split("'")[0] in STOP:
            continue
        w = re.sub(r"'s$", "", w)
        if len(w) > 1 or w.isdigit():
            out[stem(w)] = w
    return out


# ---------------------------------------------------------------- sessions
turns, labels, order = {}, {}, []
history = []
for f in sorted(glob.glob(os.path.join(HERE, "sessions_*.txt"))):
    for block in re.split(r"(?m)^(?==== )", open(f, encoding="utf-8").read()):
        if not block.strip():
            continue
        head, rest = block.split("\n", 1)
        _, sid, start = head.split()
        t = dt.datetime.fromisoformat(start)
        rng = random.Random("life-d-" + sid)
        turns[sid] = []
        order.append(sid)
        for i, part in enumerate(p for p in re.split(r"(?m)^(?=>>[UA])", rest) if p.strip()):
            mark, text = part.split("\n", 1)
            bits = mark.split()
            role = {">>U": "user", ">>A": "assistant"}[bits[0]]
            text = text.strip("\n")
            gap = None
            for b in bits[1:]:
                if b.startswith("#"):
                    if b[1:] in labels:
                        err("label twice", b)
                    labels[b[1:]] = (sid, i)
                elif re.fullmatch(r"\+\d+m", b):
                    gap = int(b[1:-1]) * 60
                else:
                    err("bad marker", sid, mark)
            if i:
                if role == "assistant":
                    t += dt.timedelta(seconds=rng.randint(5, 14) + len(text) // 60)
                elif gap:
                    t += dt.timedelta(seconds=gap + rng.randint(0, 59))
                else:
                    t += dt.timedelta(seconds=rng.randint(25, 260) + len(text) // 8)
            if not text:
                err("empty turn", sid, i)
            tz = "-06:00" if t >= DST_END else "-05:00"
            row = {"session": sid, "role": role, "at": t.isoformat() + tz, "text": text}
            turns[sid].append(row)
            history.append(row)
pos = {(s, i): n for n, (s, i) in enumerate((s, i) for s in order for i in range(len(turns[s])))}

if len(order) != 60:
    err("sessions:", len(order))
if not 550 <= len(history) <= 620:
    err("turns:", len(history))
for s in order:
    if not 6 <= len(turns[s]) <= 14:
        err("session length", s, len(turns[s]))
    if turns[s][0]["role"] != "user" or turns[s][-1]["role"] != "assistant":
        err("session edge", s)
    for x, y in zip(turns[s], turns[s][1:]):
        if x["role"] == y["role"] == "assistant":
            err("two assistant turns", s)
stamps = [dt.datetime.fromisoformat(r["at"]) for r in history]
if stamps != sorted(stamps):
    err("times not in order")
if not (stamps[0].month == 4 and stamps[-1].month == 11):
    err("range", stamps[0], stamps[-1])


# ---------------------------------------------------------------- questions
def load(name):
    ns = {}
    exec(compile(open(os.path.join(HERE, name), encoding="utf-8").read(), name, "exec"), ns)
    return ns["Q"]


def ref(x, qid):
    if "+" in x and x.split("+")[0] in labels:          # label+n: n turns after the label
        s, i = labels[x.split("+")[0]]
        i += int(x.split("+")[1])
        if i >= len(turns[s]):
            err(qid, "past the end", x)
        return s, i
    if x not in labels:
        err(qid, "unknown label", x)
        return None
    return labels[x]


def txt(p):
    return turns[p[0]][p[1]]["text"]


questions, starred = [], 0
FILES = dict(zip(KINDS, ["q_told.py", "q_changed.py", "q_paraphrase.py", "q_task.py", "q_never.py", "q_unrelated.py"]))
SHORT = dict(zip(KINDS, ["told", "changed", "para", "task", "never", "unrel"]))
for kind in KINDS:
    Q = load(FILES[kind])
    if len(Q) != 25:
        err(kind, "count", len(Q))
    for n, q in enumerate(Q, 1):
        qid = f"d-{SHORT[kind]}-{n:02d}"
        g, al, ea, okk = ([p for p in (ref(x, qid) for x in q.get(k, [])) if p] for k in ("gold", "also", "earlier", "ok"))
        for k in q:
            if k not in ("m", "gold", "also", "earlier", "ok", "a", "note", "key", "topic", "absent"):
                err(qid, "odd field", k)
        if len(set(g + al + ea)) != len(g) + len(al) + len(ea):
            err(qid, "a turn is listed twice")
        if kind in ("told-once", "changed", "paraphrase") and len(g) != 1:
            err(qid, "gold count", len(g))
        if kind == "needed-by-task" and not 1 <= len(g) <= 6:
            err(qid, "gold count", len(g))
        if kind in ("never-told", "unrelated") and (g or al or ea):
            err(qid, "must be empty")
        if kind == "changed":
            n_said = sum(turns[a][b]["role"] == "user" for a, b in ea)     # the rest are assistant turns repeating an old value
            if not 1 <= n_said <= 4:
                err(qid, "earlier count", n_said)
            if any(pos[e] >= pos[g[0]] for e in ea):
                err(qid, "an 'earlier' turn is not earlier")
            if "topic" in q:
                starred += 1
                gs = set(content(txt(g[0])))
                hit = [w for w in q["topic"].split() if stem(w) in gs]
                if hit:
                    err(qid, "topic word in newest turn:", hit)
                if not any(stem(w) in content(q["m"]) for w in q["topic"].split()):
                    err(qid, "no topic word in the message")
        if kind == "paraphrase":
            qs, gs = content(q["m"]), content(txt(g[0]))
            hit = [qs[w] for w in qs if w in gs]
            if hit:
                err(qid, "shared words:", hit, "|", q["m"])
        if "key" in q:
            rx = re.compile(q["key"], re.I)
            for p in g:
                if not rx.search(txt(p)):
                    err(qid, "gold turn lacks key", p)
            if VERBOSE:
                for s in order:
                    for i, r in enumerate(turns[s]):
                        if rx.search(r["text"]) and (s, i) not in g + al + ea + okk:
                            m_ = rx.search(r["text"])
                            print(f"  {qid} also matches {s}/{i} {r['role'][0]}: …{r['text'][max(0, m_.start()-50):m_.end()+50]!r}")
        elif kind in ("told-once", "changed", "paraphrase"):
            err(qid, "no key")
        for a in q.get("absent", []):
            for s in order:
                for i, r in enumerate(turns[s]):
                    m_ = re.search(a, r["text"], re.I)
                    if m_:
                        err(qid, "should be absent:", a, (s, i), r["text"][max(0, m_.start() - 40):m_.end() + 40])
        if kind == "never-told" and not q.get("absent"):
            err(qid, "no absent check")
        P = lambda ps: [{"session": s, "index": i} for s, i in sorted(ps, key=pos.get)]
        questions.append({"id": qid, "kind": kind, "message": q["m"], "goldTurns": P(g), "also": P(al), "earlier": P(ea),
                          "answer": q.get("a", ""), "note": q.get("note", "")})
if not 12 <= starred <= 18:
    err("changed items whose newest turn omits the topic word:", starred)
if len({q["message"] for q in questions}) != len(questions):
    err("duplicate message")
for q in questions:                                   # pointers once more, from the written form
    for k in ("goldTurns", "also", "earlier"):
        for p in q[k]:
            assert 0 <= p["index"] < len(turns[p["session"]])

with open(os.path.join(OUT, "history.jsonl"), "w", encoding="utf-8") as fh:
    for r in history:
        fh.write(json.dumps(r, ensure_ascii=False) + "\n")
with open(os.path.join(OUT, "questions.json"), "w", encoding="utf-8") as fh:
    json.dump(questions, fh, ensure_ascii=False, indent=1)
    fh.write("\n")
print(len(order), "sessions", len(history), "turns", sum(len(r["text"].split()) for r in history), "words;",
      len(questions), "questions;", starred, "topic-less changes;", len(errors), "errors")
for e in errors:
    print("ERROR", e)
sys.exit(1 if errors else 0)
