#!/usr/bin/env python3
"""Concatenates h*.jsonl (sorted by session start, renumbered f001..) and q*.jsonl into ../history.jsonl and ../questions.json, then checks. -v lists unlabelled turns matching an item's pattern."""
import json,glob,re,sys,random
from datetime import datetime,timedelta
from zoneinfo import ZoneInfo
import os
os.chdir(os.path.dirname(os.path.abspath(__file__)))
TZ=ZoneInfo('Europe/Lisbon'); errs=[]
def err(*a): errs.append(' '.join(map(str,a)))
sess=[];seen=set()
for f in sorted(glob.glob('h*.jsonl')):
    for ln,l in enumerate(open(f),1):
        if not l.strip(): continue
        d=json.loads(l)
        if 's' in d:
            if d['s'] in seen: err('dup session',d['s'])
            seen.add(d['s']); sess.append(dict(d,turns=[]))
        else: sess[-1]['turns'].append(d)
sess.sort(key=lambda s:s['at'])
hist=[];lab={};srcid={};pos={}
for i,s in enumerate(sess,1):
    sid=f'f{i:03d}'; rnd=random.Random(s['s'])
    t=datetime.fromisoformat(s['at']).replace(tzinfo=TZ)+timedelta(seconds=rnd.randint(0,59))
    exp='u'
    for k,d in enumerate(s['turns']):
        role='user' if 'u' in d else 'assistant'
        if role[0]!=exp: err('role order',s['s'],k)
        exp='a' if exp=='u' else 'u'
        text=d.get('u',d.get('a'))
        if k: t+=timedelta(seconds=(rnd.randint(4,14)+len(text)//60 if role=='assistant' else rnd.randint(20,150)+len(text)//4))
        p=(sid,k); srcid[f"{s['s']}.{k}"]=p; pos[p]=len(hist)
        if 'l' in d:
            if d['l'] in lab: err('dup label',d['l'])
            lab[d['l']]=p
        hist.append({'session':sid,'role':role,'at':t.isoformat(timespec='seconds'),'text':text})
    if exp!='u': err('session ends with user',s['s'])
prev=None
for h in hist:
    t=datetime.fromisoformat(h['at'])
    if prev and t<=prev: err('time order',h['session'],h['at'])
    prev=t
txt={p:hist[n]['text'] for p,n in pos.items()}
STOP=set("a an the and or but so of to in on at by for from with without as is are was were be been being am do does did done have has had having i me my mine we us our ours you your he him his she her hers it its they them their this that these those there here what which who whom whose when where why how if than then not no nor can could will would shall should may might must just also too again any some all each one about into over under up down out off once more most much many very please s t d ll re ve m because until before after during while again only own same such".split())
def stem(w):
    for suf in ('ations','ation','ings','ing','edly','ed','ies','es','ly','er','s','e','y'):
        if w.endswith(suf) and len(w)-len(suf)>=3: return w[:-len(suf)]
    return w
def cw(s): return {stem(w) for w in re.findall(r"[a-zà-ÿ0-9]+",s.lower().replace('’',"'")) if w not in STOP}
def look(x):
    if x in lab: return lab[x]
    if x in srcid: return srcid[x]
    err('no such turn',x); return None
qs=[];ids=set();verbose='-v' in sys.argv
for f in sorted(glob.glob('q*.jsonl')):
    for l in open(f):
        if not l.strip(): continue
        d=json.loads(l)
        if d['id'] in ids: err('dup id',d['id'])
        ids.add(d['id'])
        P={k:[look(x) for x in d.get(k,[])] for k in ('gold','also','earlier')}
        for k in P: P[k]=sorted([p for p in P[k] if p],key=lambda p:pos[p])
        al=P['gold']+P['also']+P['earlier']
        if len(al)!=len(set(al)): err('turn in two lists',d['id'])
        k=d['kind']
        if k in('told-once','changed','paraphrase','needed-by-task') and not P['gold']: err('no gold',d['id'])
        if k in('never-told','unrelated') and al: err('has turns',d['id'])
        if k in('told-once','changed','paraphrase') and len(P['gold'])!=1: err('gold count',d['id'])
        if k=='changed':
            if not P['earlier']: err('no earlier',d['id'])
            for e in P['earlier']:
                if pos[e]>=pos[P['gold'][0]]: err('earlier not older',d['id'],e)
        if k=='paraphrase':
            for g in P['gold']:
                c=cw(d['message'])&cw(txt[g])
                # prefix comparison too, 5 letters
                c|={a for a in cw(d['message']) for b in cw(txt[g]) if len(a)>=5 and len(b)>=5 and a[:5]==b[:5]}
                if c: err('paraphrase overlap',d['id'],c)
        if 'pat' in d:
            for p,t in txt.items():
                if re.search(d['pat'],t,re.I):
                    if k=='never-told': err('never-told matches',d['id'],p,t[:80])
                    elif verbose and p not in al: print('UNLABELLED',d['id'],p,t[:160])
            if k in("told-once","changed") and P["gold"] and not re.search(d['pat'],txt[P['gold'][0]],re.I): err('gold lacks own pattern',d['id'])
        if k in('never-told','told-once','changed') and 'pat' not in d: err('no pattern',d['id'])
        T=lambda ps:[{'session':a,'index':b} for a,b in ps]
        qs.append({'id':d['id'],'kind':k,'message':d['message'],'goldTurns':T(P['gold']),'also':T(P['also']),'earlier':T(P['earlier']),'answer':d.get('answer',''),'note':d.get('note','')})
        if verbose and '-d' in sys.argv:
            print(f"\n{d['id']} Q: {d['message']}\n   A: {d.get('answer')}")
            for kk in P:
                for p in P[kk]: print('  ',kk.upper(),p,hist[pos[p]]['role'][0],hist[pos[p]]['at'][:10],txt[p])
from collections import Counter
cnt=Counter(q['kind'] for q in qs)
for k in('told-once','changed','paraphrase','needed-by-task','never-told','unrelated'):
    if cnt[k]!=25: err('count',k,cnt[k])
msgs=Counter(q['message'] for q in qs)
if max(msgs.values() or [0])>1: err('dup message')
print('sessions',len(sess),'turns',len(hist),hist[0]['at'],hist[-1]['at']); print(dict(cnt))
print('turns per session',min(len(s['turns']) for s in sess),max(len(s['turns']) for s in sess))
used={lab.get(x) for x in lab}; 
if verbose:
    refd={(r['session'],r['index']) for q in qs for k in('goldTurns','also','earlier') for r in q[k]}
    print('labels never referenced:',[l for l,p in lab.items() if p not in refd])
if errs:
    print('\n'.join('ERROR '+e for e in errs)); sys.exit(1)
with open('../history.jsonl','w') as o:
    for h in hist:o.write(json.dumps(h,ensure_ascii=False)+'\n')
json.dump(qs,open('../questions.json','w'),ensure_ascii=False,indent=1)
# read back what was written
H=[json.loads(l) for l in open('../history.jsonl')];Q=json.load(open('../questions.json'))
c=Counter()
keys=set()
for h in H: keys.add((h['session'],c[h['session']])); c[h['session']]+=1
assert all((r['session'],r['index']) in keys for q in Q for k in('goldTurns','also','earlier') for r in q[k])
assert [h['at'] for h in H]==sorted([h['at'] for h in H],key=datetime.fromisoformat)
print('OK: written and read back,',len(H),'turns,',len(Q),'messages')
