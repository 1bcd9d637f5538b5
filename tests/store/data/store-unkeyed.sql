BEGIN TRANSACTION;
CREATE TABLE candidate (
    id text primary key,
    source text not null,          -- hash of the data and the schema that it was made from
    recipe text not null,          -- with the seed: the owner's secret
    infeasible text,
    seconds real not null,
    made text not null
);
INSERT INTO "candidate" VALUES('bc45baeea4','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 2}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}',NULL,1.45040708000124141108e-01,'2026-11-16T05:03:10+00:00');
INSERT INTO "candidate" VALUES('69471c4220','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"levels": {"age": 3, "sex": 1, "zip": 1}, "model": {"k-anonymity": {"k": 3}, "t-closeness": {"distance": "equal", "t": 0.5}}, "suppression": 0.0}, "sanitizer": "full-domain", "seed": 1}',NULL,1.67714519993751309812e-02,'2026-11-16T05:03:11+00:00');
INSERT INTO "candidate" VALUES('a2ee108769','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 3}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}',NULL,1.69435829993744846433e-02,'2026-11-16T05:03:11+00:00');
INSERT INTO "candidate" VALUES('cc06af6474','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 5}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}',NULL,1.01663899995401152409e-02,'2026-11-16T05:03:11+00:00');
INSERT INTO "candidate" VALUES('30fc5e9523','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 100}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}','k-anonymity with k = 100 cannot hold: with all 12 records in one class k is 12, the largest possible',3.47354500081564765423e-03,'2026-11-16T05:03:11+00:00');
CREATE TABLE decision (candidate text not null, folder text not null, facts text not null);
INSERT INTO "decision" VALUES('a2ee108769','published','{"candidate": "a2ee108769", "why": "an example", "by": "A. Steward", "when": "2026-11-16T05:05:03+00:00", "policy": []}');
CREATE TABLE fact (name text primary key, value text not null);
INSERT INTO "fact" VALUES('seed','1');
CREATE TABLE figure (
    key text primary key,          -- hash of all that the figure depends on
    facts text not null            -- added up over many records
);
CREATE TABLE measurement (
    candidate text not null references candidate (id) on delete cascade,
    asked text not null,           -- the measure with its parameters, as it was asked for
    position integer not null,
    facts text not null,
    primary key (candidate, asked, position)
);
INSERT INTO "measurement" VALUES('bc45baeea4','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 2.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}');
INSERT INTO "measurement" VALUES('bc45baeea4','{"t-closeness": {"distance": "equal"}}',0,'{"measure": "t-closeness", "attribute": null, "value": 0.33333333333333337, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}');
INSERT INTO "measurement" VALUES('bc45baeea4','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.12457912457912457, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.15151515151515152, "zip": 0.2222222222222222, "sex": 0.0}}');
INSERT INTO "measurement" VALUES('69471c4220','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 4.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}');
INSERT INTO "measurement" VALUES('69471c4220','{"t-closeness": {"distance": "equal"}}',0,'{"measure": "t-closeness", "attribute": null, "value": 0.33333333333333337, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}');
INSERT INTO "measurement" VALUES('69471c4220','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.6161616161616161, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.5151515151515151, "zip": 0.3333333333333333, "sex": 1.0}}');
INSERT INTO "measurement" VALUES('a2ee108769','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 3.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}');
INSERT INTO "measurement" VALUES('a2ee108769','{"t-closeness": {"distance": "equal"}}',0,'{"measure": "t-closeness", "attribute": null, "value": 0.3333333333333333, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}');
INSERT INTO "measurement" VALUES('a2ee108769','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.5328282828282828, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.1818181818181818, "zip": 0.6666666666666666, "sex": 0.75}}');
INSERT INTO "measurement" VALUES('cc06af6474','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 6.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}');
INSERT INTO "measurement" VALUES('cc06af6474','{"t-closeness": {"distance": "equal"}}',0,'{"measure": "t-closeness", "attribute": null, "value": 0.16666666666666669, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}');
INSERT INTO "measurement" VALUES('cc06af6474','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.8181818181818182, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.45454545454545453, "zip": 1.0, "sex": 1.0}}');
CREATE TABLE proposal (
    search text not null,          -- hash of the search, the data and the version that it ran with
    position integer not null,
    recipe text not null,
    primary key (search, position)
);
INSERT INTO "proposal" VALUES('f0a0c8ee500c7d2945e1863007d49aa1dc02cf8e7a413debf871cad9bf250acc',0,'{"parameters": {"levels": {"age": 3, "sex": 1, "zip": 1}, "model": {"k-anonymity": {"k": 3}, "t-closeness": {"distance": "equal", "t": 0.5}}, "suppression": 0.0}, "sanitizer": "full-domain", "seed": 0}');
COMMIT;
