#!/usr/bin/env python3
"""Independent check, reads only ../history.jsonl and ../questions.json."""
import json,re,os,sys
from collections import Counter
from datetime import datetime
d=os.path.join(os.path.dirname(os.path.abspath(__file__)),'..')
H=[json.loads(l) for l in open(d+'/history.jsonl')];Q=json.load(open(d+'/questions.json'))
bad=[];n=Counter();T={}
for i,h in enumerate(H):
    if set(h)!={'session','role','at','text'}: bad.append(('keys',i))
    if h['role']!=('user','assistant')[n[h['session']]%2]: bad.append(('role',i))
    T[h['session'],n[h['session']]]=(i,h); n[h['session']]+=1
ts=[datetime.fromisoformat(h['at']) for h in H]
if any(b<=a for a,b in zip(ts,ts[1:])): bad.append('time order')
blocks=[h['session'] for i,h in enumerate(H) if i==0 or H[i-1]['session']!=h['session']]
if len(blocks)!=len(set(blocks)): bad.append('session not contiguous')
if len({q['id'] for q in Q})!=len(Q): bad.append('dup question id')
K=Counter(q['kind'] for q in Q)
if sorted(K.values())!=[25]*6: bad.append(K)
F=set("a an the and or but so of to in on at by for from with without as is are was were be am do does did have has had i me my we us our you he him his she her it its they them this that these those there what which who when where why how if than not no can could will would shall should may might must just also all each one anyone among about into over under up down out off more most much very before after during because given ought or else s t d m re ve ll".split())
def stem(w):
    for s in ('ations','ation','ments','ment','ings','ing','ied','ies','edly','ed','es','ly','er','s','e','y'):
        if w.endswith(s) and len(w)-len(s)>=3: return w[:-len(s)]
    return w
W=lambda t:{w for w in re.findall(r'[^\W_]+',t.lower()) if w not in F}
for q in Q:
    if set(q)!={'id','kind','message','goldTurns','also','earlier','answer','note'}: bad.append(('fields',q['id']))
    R={k:[(r['session'],r['index']) for r in q[k]] for k in('goldTurns','also','earlier')}
    for k in R:
        for r in R[k]:
            if r not in T: bad.append(('missing turn',q['id'],r))
    if q['kind'] in('never-told','unrelated'):
        if any(R.values()): bad.append(('should be empty',q['id']))
    elif not R['goldTurns']: bad.append(('no gold',q['id']))
    if q['kind']=='changed':
        g=T[R['goldTurns'][0]][0]
        if len(R['goldTurns'])!=1 or not R['earlier'] or any(T[e][0]>=g for e in R['earlier']): bad.append(('changed',q['id']))
    if q['kind']=='paraphrase':
        m=W(q['message'])
        for g in R['goldTurns']:
            t=W(T[g][1]['text'])
            o={a for a in m for b in t if stem(a)==stem(b) or (min(len(a),len(b))>=4 and a[:4]==b[:4])}
            if o: bad.append(('overlap',q['id'],o))
print(len(n),'sessions',len(H),'turns',H[0]['at'],'to',H[-1]['at']);print(dict(K))
print('user turns',sum(h['role']=='user' for h in H),'mean chars user',sum(len(h['text']) for h in H if h['role']=='user')//(len(H)//2))
print('FAIL' if bad else 'ALL CHECKS PASS',*bad,sep='\n' if bad else ' ');sys.exit(bool(bad))
