

BlogitsJ^7K9š:=»¿5‹±q»šµÅ<V>